import type { Stored } from '@lockstep/kube/meta.ts';
import type { WatchEvent } from '@lockstep/kube/runtime/client/client.ts';
import type { RecordedEvent } from '@lockstep/kube/runtime/controller/event-recorder.ts';
import type { ReflectorSource } from '@lockstep/kube/runtime/informer/reflector.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { createMetrics } from '@lockstep/kube/runtime/metrics.ts';
import { beforeEach, expect, it } from 'vitest';
import { storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { BoundedJobSets, reportLeftOut } from './bounded-jobsets.ts';
import { JOBSET_LIMITS, MEBIBYTE } from './jobset-budget.ts';

type Event = WatchEvent<Stored<JobSet>>;

const BOOKMARK: Event = { type: 'BOOKMARK', resourceVersion: '9', initialEventsEnd: false };
const A_MINUTE_MS = 60_000;
const LARGE = jobSetOf('large', JOBSET_LIMITS.taken - MEBIBYTE);
const SMALL = jobSetOf('small', MEBIBYTE);

let clock: VirtualClock;
let logger: MemoryLogger;
let metrics: ReturnType<typeof createMetrics>;
let bounded: BoundedJobSets;
let server: Stored<JobSet>[];
let next: Event[];
let source: ReflectorSource<JobSet>;

beforeEach(() => {
  clock = new VirtualClock();
  logger = new MemoryLogger();
  metrics = createMetrics();
  bounded = new BoundedJobSets({ clock, logger, metrics });
  server = [LARGE, SMALL];
  next = [];
  source = bounded.of({
    list: () => Promise.resolve({ apiVersion: 'v1', kind: 'List', metadata: {}, items: server }),
    async *watch() {
      yield* next;
    },
  });
});

function jobSetOf(name: string, bytes: number): Stored<JobSet> {
  return storedJobSet({}, { name, uid: name, labels: { text: 'x'.repeat(bytes) } });
}

async function list(): Promise<readonly string[]> {
  const { items } = await source.list({});
  return items.filter((each) => bounded.keeps(each)).map(({ metadata }) => metadata.name);
}

async function page(): Promise<string> {
  const { signal } = new AbortController();
  const { body } = await metrics.handler({ method: 'GET', path: '/metrics', headers: {}, signal });
  return body instanceof Uint8Array ? Buffer.from(body).toString() : '';
}

/** The events that a reader of a watch gets. */
async function watch(...events: readonly Event[]): Promise<readonly string[]> {
  next = [...events];
  const seen: string[] = [];
  for await (const event of source.watch({})) seen.push(event.type);
  return seen;
}

it('lists again when there is room, a minute after the last list, if only a bookmark comes', async () => {
  const other = jobSetOf('other', JOBSET_LIMITS.taken - MEBIBYTE);
  server = [LARGE, SMALL, other];
  expect(await list()).toEqual(['large']);
  expect(await watch({ type: 'DELETED', object: LARGE })).toEqual(['DELETED']);
  await clock.advance(A_MINUTE_MS - 1);
  expect(await watch(BOOKMARK)).toEqual(['BOOKMARK']);
  await clock.advance(1);
  await expect(watch()).rejects.toMatchObject({ code: 410 });
  server = [SMALL, other];
  expect(await list()).toEqual(['small']);
  // The minute begins again.
  expect(await watch({ type: 'DELETED', object: SMALL })).toEqual(['DELETED']);
  await clock.advance(A_MINUTE_MS);
  await expect(watch()).rejects.toMatchObject({ code: 410 });
  server = [other];
  expect(await list()).toEqual(['other']);
  await clock.advance(A_MINUTE_MS);
  expect(await watch(BOOKMARK)).toEqual(['BOOKMARK']);
});

it('lists again at the event that makes room', async () => {
  await list();
  await clock.advance(A_MINUTE_MS);
  const events: Event[] = [BOOKMARK, { type: 'DELETED', object: LARGE }];
  await expect(watch(...events)).rejects.toMatchObject({ code: 410 });
});

it('keeps those that are there when a list shows a new one before them', async () => {
  server = [LARGE];
  await list();
  server = [SMALL, LARGE];
  expect(await list()).toEqual(['large']);
});

it('does not list again while there is no room', async () => {
  await list();
  await clock.advance(A_MINUTE_MS);
  expect(await watch(BOOKMARK, { type: 'MODIFIED', object: SMALL }, BOOKMARK)).toEqual([
    'BOOKMARK',
    'DELETED',
    'BOOKMARK',
  ]);
});

it('counts those that are left out, until they are deleted', async () => {
  await list();
  expect(await page()).toContain('lockstep_jobsets_left_out 1');
  await watch({ type: 'DELETED', object: SMALL });
  expect(await page()).toContain('lockstep_jobsets_left_out 0');
});

it('tells of twenty of a namespace at once, and of each once', async () => {
  const told: (string | undefined)[] = [];
  const events = {
    record: ({ regarding }: RecordedEvent) => void told.push(regarding.name),
    stop: () => Promise.resolve(),
  };
  const { signal } = new AbortController();
  reportLeftOut(bounded, { events, clock }, signal);
  server = [LARGE, ...Array.from({ length: 100 }, (_, i) => jobSetOf(`small-${i}`, MEBIBYTE))];
  await list();
  expect(told).toHaveLength(20);
  // Enough time to report twenty more.
  await clock.advance(10 * A_MINUTE_MS);
  await list();
  await watch(...server.slice(1).map((object) => ({ type: 'MODIFIED', object }) as const));
  expect(told).toHaveLength(20);
  expect(new Set(told).size).toBe(20);
  expect(logger.records).toHaveLength(20);
  // A new leader reports again.
  reportLeftOut(bounded, { events, clock }, signal);
  expect(told).toHaveLength(40);
});
