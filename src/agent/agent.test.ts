import { describe, expect, it } from 'vitest';
import { MemoryLogger } from '../runtime/memory/memory-logger.ts';
import { VirtualClock } from '../runtime/memory/virtual-clock.ts';
import { SILENT } from '../runtime/ports/logger.ts';
import { type AgentOptions, startAgent } from './agent.ts';
import type { Channel, ChannelListener, Snapshot } from './channel.ts';
import { NO_MARKER, processMarkerStore } from './marker.ts';
import { createSidecar } from './sidecar.ts';

/** Confirms everything at once, from within the call, as a channel may. */
class PromptChannel implements Channel {
  readonly calls: string[] = [];
  listener: ChannelListener | undefined;
  notice: Promise<void> = Promise.resolve();

  open(listener: ChannelListener): void {
    this.listener = listener;
    listener.snapshot(snapshot(0, 0));
  }

  announce({ epoch }: { readonly epoch: number }): void {
    this.calls.push(`announce ${epoch}`);
    this.listener?.announced(epoch);
    this.listener?.snapshot(snapshot(epoch - 1, epoch));
  }

  askForPod(): void {
    this.calls.push('ask');
  }

  giveNotice(epoch: number): Promise<void> {
    this.calls.push(`notice ${epoch}`);
    return this.notice;
  }

  close(): void {
    this.calls.push('close');
  }
}

function snapshot(deprecated: number, released: number): Snapshot {
  const version = String(1 + deprecated + released);
  return { uid: 'uid-1', version, deprecated, released, isBypassed: false, isFresh: false };
}

function options(channel: Channel, rest: Partial<AgentOptions> = {}): AgentOptions {
  return {
    jobSetUid: 'uid-1',
    marker: NO_MARKER,
    markers: processMarkerStore(),
    channel,
    body: createSidecar(new VirtualClock(), '/barrier'),
    logger: SILENT,
    ...rest,
  };
}

/** Lets everything happen that needs no time. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a running agent', () => {
  it('handles what a channel says from within a call after that call', async () => {
    const channel = new PromptChannel();
    const logger = new MemoryLogger();
    const agent = startAgent(options(channel, { logger }));
    await settle();
    const begun = logger.records.filter(({ message }) => message === 'an epoch begins');
    expect(begun.map(({ fields }) => fields['epoch'])).toEqual([1]);
    channel.listener?.snapshot(snapshot(1, 1));
    expect(await agent.left).toEqual({ type: 'EpochOver' });
    expect(channel.calls).toEqual(['announce 1', 'close']);
  });

  it('leaves only when its notice was given, and closes the channel after that', async () => {
    const channel = new PromptChannel();
    let given: () => void = () => undefined;
    channel.notice = new Promise((resolve) => {
      given = resolve;
    });
    const agent = startAgent(options(channel));
    await settle();
    agent.stop('SIGTERM');
    await settle();
    expect(channel.calls).toEqual(['announce 1', 'notice 1']);
    given();
    expect(await agent.left).toEqual({ type: 'Signal', signal: 'SIGTERM' });
    expect(channel.calls.at(-1)).toBe('close');
  });

  it('cannot go on without a marker, and has announced nothing then', async () => {
    const channel = new PromptChannel();
    const markers = {
      read: () => Promise.resolve(undefined),
      write: () => Promise.reject(new Error('ENOSPC: no space left on device')),
    };
    const agent = startAgent(options(channel, { markers }));
    await expect(agent.left).rejects.toThrow('the marker could not be written: Error: ENOSPC');
    expect(channel.calls).toEqual(['close']);
  });
});
