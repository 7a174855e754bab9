/** Each property is seen to be violated. */
import type { Stored } from '@lockstep/kube/meta.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { storedJobSet } from '../../test/fixtures/jobset-objects.ts';
import type { JobSet } from '../jobset/jobset.ts';
import { Properties, type PropertyName } from './properties.ts';
import { RankNumbers } from './rank-numbers.ts';

const A = { slot: 'a/0/0', pod: 'a-0-x', epoch: 1 };
const B = { slot: 'a/0/1', pod: 'a-1-x', epoch: 1 };
const FAILED = condition('Failed');
const COMPLETED = condition('Completed');

let found: PropertyName[];
let properties: Properties;
beforeEach(() => {
  found = [];
  const wanted = { maxRestarts: 1, isInOrder: true, slots: () => ['a/0/0', 'a/0/1', 'b/0/0'] };
  properties = new Properties(wanted, ({ property }) => found.push(property));
});

function condition(type: string) {
  return { type, status: 'True', reason: '', message: '', lastTransitionTime: '' };
}

function released(a: number, b: number): object {
  return {
    replicatedJobsStatus: [
      { name: 'a', syncedEpoch: a },
      { name: 'b', syncedEpoch: b },
    ],
  };
}

function written(status: object): Stored<JobSet> {
  return { ...storedJobSet({}), status };
}

function ended(epoch: number, charged = 0, more: object = {}): object {
  return {
    deprecatedEpoch: epoch,
    inPlaceRestartsCountTowardsMax: charged,
    restartHistory: [{ epoch, counted: charged > 0, cause: 'WorkerFailed', ...more }],
  };
}

it('lets the next epoch end if something befell a member that may have announced it', () => {
  properties.befell({ ...A, epoch: undefined });
  properties.wrote(written(ended(1)));
  const witness = { pod: 'a-0-x', exitCode: 1, reason: 'Error' };
  found = [];
  properties.wrote(written(ended(2, 1, { witness })));
  expect(found).toEqual([]);
  properties.wrote(written(ended(3, 1)));
  expect(found).toContain('One restart for each burst');
});

it('holds for a failure that ends one epoch and is charged', () => {
  properties.wrote(written(released(1, 0)));
  properties.wrote(written(released(1, 1)));
  properties.started(A, 1, [A, B]);
  properties.befell(A);
  properties.failed(A, 1);
  const witness = { pod: 'a-0-x', exitCode: 1, reason: 'Error' };
  const restarted = { ...ended(1, 1, { witness }), ...released(1, 1) };
  properties.wrote(written(restarted));
  properties.wrote(written({ ...restarted, ...released(2, 1) }));
  properties.started({ ...A, epoch: 2 }, 2, [{ ...A, epoch: 2 }]);
  properties.rests(true, []);
  expect(found).toEqual([]);
});

it.each<[PropertyName, () => void]>([
  ['One epoch runs at a time', () => properties.started({ ...A, epoch: 2 }, 2, [B])],
  [
    'No slot starts two workers in one epoch',
    () => {
      properties.started(A, 1, [A]);
      properties.started({ ...A, pod: 'another' }, 1, []);
    },
  ],
  [
    'Epochs never go back',
    () => {
      properties.befell(undefined);
      properties.wrote(written(ended(1)));
      properties.wrote(written({ deprecatedEpoch: 0 }));
    },
  ],
  ['One restart for each burst', () => properties.wrote(written(ended(1)))],
  [
    'Each cause is charged once',
    () => properties.wrote(written({ inPlaceRestartsCountTowardsMax: 1 })),
  ],
  [
    'The budget holds',
    () => {
      properties.befell(A);
      properties.wrote(written(ended(1, 1)));
      properties.befell(A);
      properties.wrote(written(ended(2, 2)));
    },
  ],
  [
    'No failure is lost',
    () => {
      properties.failed(A, 1);
      properties.rests(true, []);
    },
  ],
  [
    'Completed and Failed are final',
    () => {
      properties.wrote(written({ conditions: [FAILED] }));
      properties.wrote(written({ conditions: [] }));
    },
  ],
  [
    'A certain culprit failed',
    () => {
      properties.befell(A);
      const suspects = [
        { pod: 'a-0-x', why: '', confidence: 'Certain' },
        { pod: 'a-1-x', why: 'was killed', confidence: 'Certain' },
      ];
      properties.wrote(written(ended(1, 1)));
      found = [];
      properties.wrote(written({ ...ended(1, 1, { suspects }), ...released(2, 0) }));
    },
  ],
  [
    'Each second is counted once',
    () => {
      const phase = 'Running';
      const [time, later] = ['2026-01-01T00:00:10Z', '2026-01-01T00:00:20Z'];
      properties.wrote(written({ goodput: { time, phase, waitingMs: 10_000 } }));
      properties.wrote(written({ goodput: { time: later, phase, waitingMs: 10_000 } }));
    },
  ],
  [
    'Every restart has a witness',
    () => {
      properties.befell(A);
      properties.wrote(written(ended(1, 1)));
    },
  ],
  [
    'Every restart has a witness',
    () => {
      properties.befell(A);
      properties.wrote(
        written(ended(1, 1, { witness: { pod: 'a-1-x', exitCode: 1, reason: '' } })),
      );
    },
  ],
  [
    'Each cause is charged once',
    () => {
      properties.befell(undefined);
      properties.wrote(written(ended(1, 1)));
    },
  ],
  ['The budget holds', () => properties.wrote(written({ conditions: [FAILED] }))],
  ['A release comes first', () => properties.started(A, 1, [A])],
  ['The startup order holds', () => properties.wrote(written(released(1, 1)))],
  [
    'The history names each end',
    () => {
      properties.befell(A);
      properties.wrote(written({ ...ended(1), restartHistory: [{ epoch: 2 }, { epoch: 1 }] }));
    },
  ],
  [
    'A group completes when its work is done',
    () => {
      properties.succeeded(A);
      properties.wrote(written({ conditions: [COMPLETED] }));
    },
  ],
  ['An outage stops no worker', () => properties.stopped(A, 1)],
  ['A quiet group comes to rest', () => properties.rests(false, [A])],
  ['Nothing throws', () => properties.threw(new Error('an error'))],
  [
    'The operator does not contradict itself',
    () => properties.contradicted(new Error('a contradiction')),
  ],
])('finds that not: %s', (property, happens) => {
  happens();
  expect(found).toContain(property);
});

function numbered(firstRank: number, world = 4, processes = 2) {
  return { processes, firstRank, world, groupRank: 0, groups: 2, master: 'a' };
}

describe('numbers of ranks', () => {
  let wrong: string[];
  let numbers: RankNumbers;
  beforeEach(() => {
    wrong = [];
    numbers = new RankNumbers(2, (detail) => wrong.push(detail));
    numbers.started('a/0/0', 1, numbered(0));
    numbers.started('a/0/1', 1, numbered(2));
    expect(wrong).toEqual([]);
  });

  it('may stay, and change once for a new size', () => {
    numbers.started('a/0/1', 2, numbered(2));
    numbers.resized();
    numbers.started('a/0/1', 3, numbered(4, 6));
    numbers.rests(3, ['a/0/0', 'a/0/1', 'a/0/2']);
    expect(wrong).toEqual([]);
  });

  it.each<[string, () => void, string]>([
    ['two members share one', () => numbers.started('a/0/2', 1, numbered(1)), 'and a/0/0 has'],
    ['a world differs', () => numbers.started('a/0/2', 1, numbered(4, 6)), 'ranks 4 to 5 of 6'],
    ['one is outside', () => numbers.started('a/0/0', 2, numbered(3)), 'ranks 3 to 4 of 4'],
    ['one changes', () => numbers.started('a/0/0', 2, numbered(1)), 'without a new size'],
    ['there are none', () => numbers.started('a/0/0', 2, undefined), 'starts none, 2 ranks'],
    ['the world is an old one', () => numbers.rests(1, ['a/0/0']), 'world of 4, expected 2'],
  ])('are wrong where %s', (_, happen, detail) => {
    happen();
    expect(wrong.join()).toContain(detail);
  });
});

it('sees a rank that is called certain, and another failed', () => {
  properties.wrote(written(released(1, 0)));
  properties.befell({ ...A, ranks: numbered(0) }, 1);
  const suspects = [{ pod: 'a-0-x', rank: 1, confidence: 'Certain', why: '' }];
  const witness = { pod: 'a-0-x', exitCode: 1, reason: 'Error' };
  properties.wrote(written(ended(1, 1, { witness, suspects })));
  expect(found).toEqual([]);
});

it('sees that a rank which is called certain did not fail', () => {
  properties.wrote(written(released(1, 0)));
  properties.befell({ ...A, ranks: numbered(0) }, 1);
  const suspects = [{ pod: 'a-0-x', rank: 0, confidence: 'Certain', why: '' }];
  const witness = { pod: 'a-0-x', exitCode: 1, reason: 'Error' };
  properties.wrote(written(ended(1, 1, { witness, suspects })));
  expect(found).toEqual(['A certain culprit failed']);
});

it('knows no certain culprit of an epoch in which a node was silent', () => {
  const over = properties.excuse();
  properties.wrote(written(ended(1)));
  over();
  const suspects = [{ pod: 'a-0-x', why: '', confidence: 'Certain' }];
  properties.wrote(written({ ...ended(1, 0, { suspects }), ...released(2, 0) }));
  expect(found).not.toContain('A certain culprit failed');
});
