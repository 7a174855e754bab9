import type { Stored } from '@lockstep/kube/meta.ts';
import { CORE_EVENTS, type CoreEvent } from '@lockstep/kube/objects/event.ts';
import type { Client, ListOptions } from '@lockstep/kube/runtime/client/client.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { failure } from '@lockstep/kube/status.ts';
import { expect, it } from 'vitest';
import { jobSetWith } from '../../../test/fixtures/hub-jobset.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { type PodRefusal, statusView } from '../../jobset/view/status-view.ts';
import { PodRefusals } from './pod-refusals.ts';
import { memberTable } from './printed-at.fixture.ts';
import { statusChanges } from './status-changes.ts';

const { signal } = new AbortController();
const MESSAGE = 'Job train-w-0 lacks 2 Pods that Kubernetes did not make; the Events say why';

function lacking(
  told: { reason?: string; status?: 'True' | 'False'; message?: string } = {},
): Stored<JobSet> {
  const jobSet = jobSetWith(0, 0, 7);
  const condition = {
    type: 'MemberNotStarting',
    status: 'True' as const,
    reason: 'PodNotCreated',
    message: MESSAGE,
    lastTransitionTime: '2026-01-01T00:08:00Z',
    ...told,
  };
  return { ...jobSet, status: { ...jobSet.status, conditions: [condition] } };
}

function event(
  uid: string,
  message: string,
  lastTimestamp: string,
  name = 'train-w-0',
): Stored<CoreEvent> {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: uid,
      namespace: 'default',
      uid,
      resourceVersion: '1',
      creationTimestamp: lastTimestamp,
    },
    involvedObject: { kind: 'Job', name, uid: 'job' },
    type: 'Warning',
    reason: 'FailedCreate',
    message,
    lastTimestamp,
  };
}

const EVENTS = [
  event('b', 'exceeded quota: b\u001b[2J\nand more', '2026-01-01T00:09:48Z'),
  event('a', 'exceeded quota: a', '2026-01-01T00:09:00Z'),
  // A selector of a server chooses, but what it sends is read all the same.
  event('c', 'of another', '2026-01-01T00:09:59Z', 'other-w-0'),
];

function readerOf(answer: () => readonly Stored<CoreEvent>[]) {
  const asked: ListOptions[] = [];
  const list = async (of: unknown, options: ListOptions = {}) => {
    expect(of).toBe(CORE_EVENTS);
    asked.push(options);
    return { metadata: {}, items: answer() };
  };
  const clock = new VirtualClock();
  const client: Client = Object.assign(new MemoryClient(), { list } as unknown as Client);
  return { asked, clock, refusals: new PodRefusals(client, clock) };
}

const REFUSAL: PodRefusal = {
  job: 'train-w-0',
  reason: 'FailedCreate',
  message: 'exceeded quota: b\u001b[2J\nand more',
  timeMs: Date.parse('2026-01-01T00:09:48Z'),
};

it('is the newest Event of the Job that the condition names, with one bounded read in a while', async () => {
  const { asked, clock, refusals } = readerOf(() => EVENTS);
  for (let i = 0; i < 3; i++) expect(await refusals.ofJobSet(lacking(), signal)).toEqual([REFUSAL]);
  expect(asked).toEqual([
    {
      namespace: 'default',
      fieldSelector: 'involvedObject.kind=Job,involvedObject.name=train-w-0,type=Warning',
      limit: 500,
      signal,
    },
  ]);
  await clock.advance(5000);
  await refusals.ofJobSet(lacking(), signal);
  expect(asked).toHaveLength(2);
});

it.each([
  ['no member is missing', { status: 'False' as const }],
  ['a Pod is there', { reason: 'Unschedulable', message: 'Pod p does not start: Unschedulable' }],
  ['its text names no Job', { message: 'Job a,type=Normal lacks a Pod' }],
])('reads nothing if %s', async (_why, told) => {
  const { asked, refusals } = readerOf(() => EVENTS);
  expect(await refusals.ofJobSet(lacking(told), signal)).toEqual([]);
  expect(asked).toEqual([]);
});

it.each([
  ['Forbidden', 1],
  ['NotFound', 2],
] as const)('is not known where the answer is %s', async (reason, reads) => {
  const { asked, refusals } = readerOf(() => {
    throw failure(reason, 'no Events for you');
  });
  for (let i = 0; i < 2; i++) expect(await refusals.ofJobSet(lacking(), signal)).toEqual([]);
  expect(asked).toHaveLength(reads);
});

it('is shown in one line, and as news when it comes', () => {
  const view = statusView(lacking(), [], undefined);
  const line = 'newest Event of Job train-w-0: FailedCreate: exceeded quota: b\\x1b[2J\\nand more';
  const lines = memberTable({ ...view, refusal: REFUSAL }).split('\n');
  expect(lines).toContain(`  ${line} (12s ago)`);
  expect(memberTable(view)).toContain('describe jobset');
  expect(lines.join()).not.toContain('describe jobset');
  expect(statusChanges(view, { ...view, refusal: REFUSAL })).toEqual([line]);
});
