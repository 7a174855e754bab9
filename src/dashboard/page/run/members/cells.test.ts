import { expect, it } from 'vitest';
import type { ProgressView } from '../../../../jobset/view/status-view.ts';
import type { RunMember } from '../../../messages/run.ts';
import { cellKey, MAX_RANK_CELLS, rankCells, rankCount } from './cells.ts';

const member = (pod: string, progress: Partial<ProgressView> | null): RunMember => ({
  label: '0',
  replicatedJob: 'workers',
  job: 'train-workers-0',
  index: '0',
  pod,
  node: null,
  isNodeLost: false,
  phase: 'Running',
  heldBy: null,
  epoch: 1,
  channel: 'Hub',
  lastCause: null,
  atMs: 0,
  progress: progress && { silentMs: 7, ...progress },
});

it('each rank of a member has a cell, which shows what is known of that rank', () => {
  const lag = [{ local: 1, step: 3, silentMs: 60_000 }];
  const cells = rankCells([
    member('a', { step: 3, ranks: 3, lag, rest: { step: 9, silentMs: 50 } }),
    member('b', null),
    member('c', { step: 4, phase: 'load', ranks: 2 }),
  ]);
  expect(cells.map(cellKey)).toEqual(['a/0', 'a/1', 'a/2', 'b', 'c/0', 'c/1']);
  expect(cells.map(({ progress }) => progress?.step)).toEqual([9, 3, 9, undefined, 4, 4]);
  expect(cells.map(({ progress }) => progress?.silentMs)).toEqual([
    50,
    60_000,
    50,
    undefined,
    7,
    7,
  ]);
  expect(cells.at(-1)?.progress?.phase).toBe('load');
});

it('ranks that an agent starts have cells before they report', () => {
  const started = { ...member('a', null), ranks: { first: 8, count: 2 } };
  const cells = rankCells([
    started,
    { ...member('b', { ranks: 1 }), ranks: { first: 10, count: 3 } },
  ]);
  expect(cells.map(cellKey)).toEqual(['a/0', 'a/1', 'b/0', 'b/1', 'b/2']);
  expect(rankCount([started, member('b', null)])).toBe(3);
});

it.each([
  ['one rank in each member', [1, 1], 0],
  ['several ranks', [8, 1], 9],
  ['more ranks than a page can show', Array<number>(MAX_RANK_CELLS / 64 + 1).fill(64), 0],
])('%s: the page offers %j as %i cells', (_name, ranks, count) => {
  expect(rankCount(ranks.map((each, i) => member(`p-${i}`, { ranks: each })))).toBe(count);
});
