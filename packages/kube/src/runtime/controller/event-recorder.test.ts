import { expect, test } from 'vitest';
import type { Event } from '../../objects/event.ts';
import { PODS, type Pod } from '../../objects/pod.ts';
import { failure } from '../../status.ts';
import { MemoryClient } from '../memory/memory-client.ts';
import { MemoryLogger } from '../memory/memory-logger.ts';
import { SeededRandom } from '../memory/seeded-random.ts';
import { VirtualClock } from '../memory/virtual-clock.ts';
import { TransportError } from '../ports/transport.ts';
import {
  createEventRecorder,
  MAX_NOTE_BYTES,
  type RecordedEvent,
  referenceTo,
} from './event-recorder.ts';

const POD: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'team', name: 'worker-0', uid: 'u1', resourceVersion: '7' },
  spec: { containers: [] },
};

function underTest() {
  const client = new MemoryClient();
  const clock = new VirtualClock();
  const logger = new MemoryLogger();
  const random = new SeededRandom(1);
  const recorder = createEventRecorder({ client, clock, random, logger, controller: 'tester' });
  const record = (event: Partial<RecordedEvent> = {}): void =>
    recorder.record({
      regarding: referenceTo(PODS, POD),
      type: 'Normal',
      reason: 'Started',
      action: 'Starting',
      note: 'started',
      ...event,
    });
  const events = (): Event[] => [...client.objects.values()] as unknown as Event[];
  return { client, clock, logger, recorder, record, events };
}

test('an event is written as the API wants it, its text untouched', async () => {
  const { clock, record, events, recorder } = underTest();
  record({ note: '100%s of %d' });
  await clock.settle();
  expect(events()).toMatchObject([
    {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { namespace: 'team', name: expect.stringMatching(/^worker-0\.[0-9a-f]+$/) },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'tester',
      reportingInstance: 'tester',
      action: 'Starting',
      reason: 'Started',
      note: '100%s of %d',
      type: 'Normal',
      regarding: { apiVersion: 'v1', kind: 'Pod', name: 'worker-0', uid: 'u1' },
    },
  ]);
  await recorder.stop();
});

test('repeats within six minutes make one series, later ones a new event', async () => {
  const { client, clock, record, events, recorder } = underTest();
  for (let i = 0; i < 30; i++) {
    record();
    await clock.advance(1000);
  }
  await clock.advance(20_000);
  expect(events()).toHaveLength(1);
  expect(events()[0]?.series?.count).toBe(30);
  // The first Event, its first repeat, then at most one write per ten seconds.
  expect(client.calls.length).toBeLessThanOrEqual(6);
  record({ note: 'another text' });
  await clock.advance(7 * 60_000);
  record();
  await clock.settle();
  expect(events().map((event) => event.series?.count)).toEqual([30, undefined, undefined]);
  await recorder.stop();
  expect(clock.pendingTimers).toBe(0);
});

test('a failing server costs a few tries and then the event, never the caller', async () => {
  const { client, clock, record, events, logger, recorder } = underTest();
  client.before = () => {
    throw new TransportError('refused');
  };
  record();
  await clock.advance(60_000);
  expect(client.calls).toHaveLength(5);
  expect(logger.records.map((entry) => entry.message)).toEqual(['event dropped']);
  client.before = () => undefined;
  record();
  await clock.settle();
  expect(events()).toHaveLength(1);
  await recorder.stop();
});

test('a refusal is final', async () => {
  const { client, clock, record, recorder } = underTest();
  client.before = () => {
    throw failure('Forbidden', 'namespace is being terminated');
  };
  record();
  await clock.advance(60_000);
  expect(client.calls).toHaveLength(1);
  await recorder.stop();
});

test('a lost answer to the creation does not double the event', async () => {
  const { client, clock, record, events, recorder } = underTest();
  client.after = () => {
    client.after = () => undefined;
    throw new TransportError('reset');
  };
  record();
  await clock.advance(5000);
  expect(events()).toHaveLength(1);
  expect(client.calls).toHaveLength(2);
  await recorder.stop();
});

test('an event deleted on the server is made again by its next repeat', async () => {
  const { client, clock, record, events, recorder } = underTest();
  record();
  await clock.settle();
  client.objects.clear();
  record();
  await clock.settle();
  expect(events().map((event) => event.series?.count)).toEqual([2]);
  await recorder.stop();
});

test('a long note is cut between characters', async () => {
  const { clock, record, events, recorder } = underTest();
  record({ note: 'ä€😀'.repeat(300) });
  await clock.settle();
  const note = events()[0]?.note ?? '';
  expect(Buffer.byteLength(note)).toBeLessThanOrEqual(MAX_NOTE_BYTES);
  expect(note).toMatch(/^(ä€😀)+ä?€?\.\.\.$/);
  await recorder.stop();
});

test('events of cluster-scoped objects go to default, under a valid name', async () => {
  const { clock, record, client, recorder } = underTest();
  const name = `${'x'.repeat(235)}.${'y'.repeat(10)}`;
  record({ regarding: { kind: 'Node', name } });
  await clock.settle();
  const [, path = ''] = /^POST (.*)$/.exec(client.calls[0] ?? '') ?? [];
  expect(path).toContain('/namespaces/default/events/');
  const written = path.slice(path.lastIndexOf('/') + 1);
  expect(written.length).toBeLessThanOrEqual(253);
  expect(written).toMatch(/[a-z]\.[0-9a-f]+$/);
  await recorder.stop();
});

test('stop writes what is pending, counts included', async () => {
  const { clock, record, events, recorder } = underTest();
  for (let i = 0; i < 5; i++) {
    record();
    await clock.settle();
  }
  await recorder.stop();
  expect(events()[0]?.series?.count).toBe(5);
});
