import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { expect, test } from 'vitest';
import { storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { NO_ANSWERS } from '../../jobset/plan/questions.ts';
import { inquire } from './inquiries.ts';
import { StartLooks } from './start-looks.ts';
import { StartMemory } from './start-memory.ts';

type Sources = Parameters<typeof inquire>[3];

test('a look at a Pod that does not start holds a failure up for a second at most', async () => {
  const clock = new VirtualClock();
  const list: Client['list'] = (_, { signal } = {}) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  const memory = { starts: new StartMemory() };
  const startLooks = new StartLooks(clock);
  const sources = { client: { list }, clock, startLooks, memory } as unknown as Sources;
  const question = { kind: 'HeldPod', pod: undefined } as const;
  const { signal } = new AbortController();
  const jobSet = storedJobSet({ replicatedJobs: [] });
  const asked = inquire(question, NO_ANSWERS, jobSet, sources, signal);
  const other = await inquire(question, NO_ANSWERS, jobSet, sources, signal);
  expect(other.answers(question), 'one that comes meanwhile does not wait').toEqual({});
  await clock.advance(1000);
  expect((await asked).answers(question)).toEqual({});
});

test('JobSets of one namespace that wait in thousands read few Pods, and leave some to others', async () => {
  const clock = new VirtualClock();
  let reads = 0;
  const list = (): Promise<unknown> => {
    reads++;
    return Promise.resolve({ items: [], metadata: {} });
  };
  const startLooks = new StartLooks(clock);
  const lookIn = async (namespace: string): Promise<void> => {
    const memory = { starts: new StartMemory() };
    const sources = { client: { list }, clock, startLooks, memory } as unknown as Sources;
    const { metadata, ...rest } = storedJobSet({ replicatedJobs: [] });
    const jobSet = { ...rest, metadata: { ...metadata, namespace } };
    const question = { kind: 'HeldPod', pod: undefined } as const;
    await inquire(question, NO_ANSWERS, jobSet, sources, new AbortController().signal);
    expect(memory.starts.look(clock.now()).sinceLookMs, 'the next try is later').toBe(0);
  };
  for (let second = 0; second < 10; second++) {
    for (let i = 0; i < 300; i++) await lookIn('crowd');
    await clock.advance(1000);
  }
  expect(reads).toBeLessThanOrEqual(70);
  reads = 0;
  await lookIn('other');
  expect(reads).toBe(1);
});
