import { NAMESPACES } from '@lockstep/kube/objects/core.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { failure } from '@lockstep/kube/status.ts';
import { describe, expect, it } from 'vitest';
import { namespaceAnnotations } from './namespace-annotations.ts';

const { signal } = new AbortController();
const clock = new VirtualClock();

function reading(get: (signal: AbortSignal | undefined) => Promise<never>) {
  const logger = new MemoryLogger();
  const client = {
    get: (_of: unknown, _at: unknown, { signal: within }: { signal?: AbortSignal }) => get(within),
  };
  const read = namespaceAnnotations({ client: client as unknown as Client, clock, logger });
  return { logger, read };
}

describe('the annotations of a Namespace', () => {
  it('are ours alone, and a limited number', async () => {
    const client = new MemoryClient();
    const many = Array.from({ length: 100 }, (_, index) => [`lockstep/x${index}`, '']);
    for (const [name, annotations] of [
      ['team', { 'lockstep/standby': 'Warm', 'example.com/secret': 'x' }],
      ['many', Object.fromEntries(many)],
      ['none', undefined],
    ] as const) {
      const metadata = { name, ...(annotations && { annotations }) };
      await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata });
    }
    const read = namespaceAnnotations({ client, clock, logger: new MemoryLogger() });
    expect(await read('team', signal)).toEqual({ 'lockstep/standby': 'Warm' });
    expect(Object.keys(await read('many', signal))).toHaveLength(64);
    expect(await read('none', signal)).toEqual({});
    expect(await read('gone', signal)).toEqual({});
  });

  it('are none without the right to read it, which is said once', async () => {
    const { logger, read } = reading(() => Promise.reject(failure('Forbidden', 'no')));
    expect(await read('a', signal)).toEqual({});
    expect(await read('b', signal)).toEqual({});
    expect(logger.records.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  it('are asked for again after another failure, and in a second at most', async () => {
    const { read } = reading(() => Promise.reject(failure('InternalError', 'etcd')));
    await expect(read('a', signal)).rejects.toThrow('etcd');
    const silent = reading(
      (within) =>
        new Promise((_, reject) => {
          within?.addEventListener('abort', () => reject(within.reason as Error));
        }),
    );
    const asked = silent.read('a', signal).catch((error: unknown) => error);
    await clock.advance(1000);
    expect(String(await asked)).toContain('not done within 1000 ms');
  });
});
