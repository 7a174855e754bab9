/** What a tracer writes, and whether the player takes it. */

import type { Condition } from '@lockstep/kube/meta.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Channel, ChannelListener } from '../agent/channel.ts';
import { MAX_TEXT_LENGTH, type TraceLine } from '../dashboard/messages/trace.ts';
import type { JobSetStatus } from '../jobset/jobset-status.ts';
import type { Progress } from '../jobset/progress/progress.ts';
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

describe('the progress of a worker', () => {
  const LATER_MS = 700.4;

  /** What is written of these answers, one after the other. */
  function told(...answers: readonly Progress[]): readonly unknown[] {
    let asks: ChannelListener | undefined;
    const channel = {
      open: (listener: ChannelListener) => {
        asks = listener;
      },
    } as Channel;
    const left = [...answers];
    const agent = { progress: () => left.shift() } as ChannelListener;
    tracer.overhear({ slot: 'a/0/0', uid: 'pod' }, channel).open(agent);
    for (const _ of answers) asks?.progress();
    return lines.map((line) => ('progress' in line ? line.progress : line));
  }

  function lagging(byMs: number, step = 7): Progress {
    return {
      step: 9,
      silentMs: 10.2 + byMs,
      ranks: 8,
      lag: [{ local: 3, step, silentMs: 900.3 + byMs }],
      rest: { step: 9, silentMs: 10.2 + byMs },
    };
  }

  it('names the ranks that lag, once while only times grow', () => {
    expect(told(lagging(0), lagging(LATER_MS), lagging(2 * LATER_MS))).toEqual([
      {
        step: 9,
        silentMs: 10,
        ranks: 8,
        lag: [{ local: 3, step: 7, silentMs: 900 }],
        rest: { step: 9, silentMs: 10 },
      },
    ]);
  });

  it('is written again when a rank that lags has stepped', () => {
    expect(told(lagging(0), lagging(LATER_MS, 8))).toHaveLength(2);
  });
});
