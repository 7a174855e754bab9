import { expect, test } from 'vitest';
import { storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import type { Client } from '../../runtime/client/client.ts';
import { VirtualClock } from '../../runtime/memory/virtual-clock.ts';
import { inquire } from './inquiries.ts';

type Sources = Parameters<typeof inquire>[2];

test('a look at a Pod that does not start holds a failure up for a second at most', async () => {
  const clock = new VirtualClock();
  const list: Client['list'] = (_, { signal } = {}) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  const memory = { starts: { looked: () => undefined } };
  const sources = { client: { list }, clock, memory } as unknown as Sources;
  const question = { kind: 'HeldPod', pod: undefined } as const;
  const { signal } = new AbortController();
  const asked = inquire(question, storedJobSet({ replicatedJobs: [] }), sources, signal);
  await clock.advance(1000);
  expect(await asked).toEqual({ answers: { heldPod: {} } });
});
