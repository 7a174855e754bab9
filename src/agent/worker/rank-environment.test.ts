import type { StringMap } from '@lockstep/kube/meta.ts';
import { expect, it } from 'vitest';
import type { MemberRanks } from '../../jobset/ranks/member-ranks.ts';
import { rankEnvironment } from './rank-environment.ts';

const RANKS: MemberRanks = {
  processes: 4,
  firstRank: 8,
  world: 12,
  groupRank: 2,
  groups: 3,
  master: 'train-workers-0-0.train',
};

const OF_ALL = {
  LOCAL_WORLD_SIZE: '4',
  GROUP_RANK: '2',
  GROUP_WORLD_SIZE: '3',
  WORLD_SIZE: '12',
  MASTER_ADDR: 'train-workers-0-0.train',
  MASTER_PORT: '29500',
  OMP_NUM_THREADS: '1',
  LOCKSTEP_PROCESSES: '4',
};

it.each<[string, number, Partial<MemberRanks>, StringMap, StringMap]>([
  ['the first process', 0, {}, {}, { ...OF_ALL, LOCAL_RANK: '0', RANK: '8' }],
  ['the last one', 3, {}, {}, { ...OF_ALL, LOCAL_RANK: '3', RANK: '11' }],
  [
    'a template with a port of its own',
    1,
    {},
    { MASTER_PORT: '4000' },
    { ...OF_ALL, LOCAL_RANK: '1', RANK: '9', MASTER_PORT: '4000' },
  ],
])('%s has the numbers of its member', (_, local, more, env, expected) => {
  expect(rankEnvironment({ ranks: { ...RANKS, ...more }, local }, env)).toEqual(expected);
});

it.each<[string, number, StringMap]>([
  ['the only process of a member', 1, {}],
  ['a process with a choice of its own', 4, { OMP_NUM_THREADS: '6' }],
])('%s may use as many processors as it likes', (_, processes, env) => {
  const given = rankEnvironment({ ranks: { ...RANKS, processes }, local: 0 }, env);
  expect(given).not.toHaveProperty('OMP_NUM_THREADS');
});
