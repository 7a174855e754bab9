/** What a tracer writes, and whether the player takes it. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Condition } from '@lockstep/kube/meta.ts';
import { MAX_TEXT_LENGTH, type TraceLine } from '../dashboard/messages/trace.ts';
import type { JobSetStatus } from '../jobset/jobset-status.ts';
import { History } from './history.ts';
import { Tracer } from './trace.ts';

const COUNTS = { ready: 0, succeeded: 0, failed: 0, active: 0, suspended: 0 };

let lines: TraceLine[];
let tracer: Tracer;
let history: History;
beforeEach(() => {
  lines = [];
  const clock = { monotonic: () => 5 };
  tracer = new Tracer(clock, (line) => lines.push(line));
  history = new History(clock, tracer);
});

function condition(type: string): Condition {
  return { type, status: 'True', reason: '', message: '', lastTransitionTime: '' };
}

function texts(): readonly string[] {
  return lines.flatMap((line) => ('text' in line ? line.text : []));
}

describe('an event', () => {
  it('is no longer than the player takes, however many members it names', () => {
    const slots = Array.from({ length: 1000 }, (_, i) => `workers/${i}/0`);
    history.violated({ property: 'A quiet group comes to rest', detail: slots.join(', ') });
    expect(texts()).toEqual([
      expect.stringMatching(/^VIOLATED: A quiet group comes to rest: workers\/0\/0, .*\.\.\.$/),
    ]);
    expect(texts()[0]).toHaveLength(MAX_TEXT_LENGTH);
  });

  it('is one line, although an error has a stack of several', () => {
    history.violated({ property: 'Nothing throws', detail: 'Error: no\n    at a\n    at b' });
    expect(texts()).toEqual(['VIOLATED: Nothing throws: Error: no at a at b']);
  });
});

it.each<[what: string, status: JobSetStatus, text: string]>([
  ['nothing was released', {}, 'status: ended 0, charged 0'],
  [
    'something was',
    {
      deprecatedEpoch: 1,
      restartsCountTowardsMax: 1,
      replicatedJobsStatus: [{ ...COUNTS, name: 'a', syncedEpoch: 2 }],
      conditions: [condition('Failed')],
    },
    'status: ended 1, released a 2, charged 1; Failed',
  ],
])('writes a status in which %s', (_, status, text) => {
  history.sawStatus(status);
  expect(texts()).toEqual([text]);
});
