/**
 * An agent that follows the protocol and tells of its worker's end what a test says, with no worker
 * behind it.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Channel } from '../../src/agent/channel.ts';
import { type WorkerEnd, withoutSigns } from '../../src/jobset/worker-end/worker-end.ts';
import type { Member } from './training-group.fixture.ts';

/** The end of a worker of any epoch at any time. */
export type Evidence = Omit<WorkerEnd, 'epoch' | 'atMs'>;

export const STEPPING = { step: 330, silentMs: 400, longestMs: 900, cpuMs: 4000 } as const;
export const EXITED: Evidence = { ...STEPPING, how: 'Exited', exit: { exitCode: 1 } };
export const KILLED: Evidence = {
  ...STEPPING,
  how: 'Signaled',
  exit: { signal: 'SIGKILL' },
};

/** An agent that follows the protocol, and a worker that is nothing but its end. */
export class Teller implements Member {
  readonly slot: string;
  readonly podName: string;
  epoch: number | undefined;
  /** How the worker ends when it is told to stop; undefined: not yet. */
  whenStopped: Evidence | undefined = { ...STEPPING, how: 'Stopped' };
  readonly #clock: Clock;
  readonly #channel: Channel;
  #announced = 1;

  constructor(
    pod: Stored<Pod>,
    slot: string,
    channel: Channel,
    clock: Clock,
    started: (epoch: number) => void,
  ) {
    this.slot = slot;
    this.podName = pod.metadata.name;
    this.#clock = clock;
    this.#channel = channel;
    channel.open({
      snapshot: ({ deprecated, released }) => {
        const { whenStopped } = this;
        if (deprecated >= this.#announced && whenStopped !== undefined) {
          this.#end(deprecated + 1, whenStopped);
        }
        if (released !== this.#announced || this.epoch === released) return;
        this.epoch = released;
        started(released);
      },
      announced: () => undefined,
      podEnding: () => undefined,
      podLives: () => undefined,
      answered: () => undefined,
      progress: () => undefined,
    });
    channel.announce({ epoch: 1, starts: 1 });
  }

  /** The worker ends by itself, or is ended by this agent. */
  die(evidence: Evidence, agoMs = 0): void {
    const exit = evidence.exit ?? { exitCode: 1 };
    this.#end(this.#announced + 1, { ...evidence, exit, restartsGroup: true }, agoMs);
  }

  exit(): void {
    this.die(EXITED);
  }

  crash(): void {
    throw new Error('not part of these tests');
  }

  end(): void {
    this.#channel.close();
  }

  #end(epoch: number, evidence: Evidence, agoMs = 0): void {
    const atMs = this.#clock.monotonic() - agoMs;
    const end = { ...evidence, epoch: this.#announced, atMs };
    const hasRun = this.epoch !== undefined;
    this.#announced = epoch;
    this.epoch = undefined;
    this.#channel.announce({ epoch, starts: 1, end: hasRun ? end : withoutSigns(end) });
  }
}
