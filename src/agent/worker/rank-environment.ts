/** The variables by which a process of a worker knows its rank, as `torchrun` sets them. */

import type { StringMap } from '@lockstep/kube/meta.ts';
import { ENV_PROCESSES } from '../../jobset/names.ts';
import type { MemberRanks } from '../../jobset/ranks/member-ranks.ts';

/** One of several processes of a worker. */
export interface ProcessRank {
  readonly ranks: MemberRanks;
  /** 0 to `ranks.processes` less one. */
  readonly local: number;
}

/** The port on which PyTorch's rank 0 listens, unless the template sets another. */
const MASTER_PORT = '29500';

export function rankOf({ ranks, local }: ProcessRank): number {
  return ranks.firstRank + local;
}

/** What the process gets beside the environment of its container, `env`. */
export function rankEnvironment(rank: ProcessRank, env: StringMap): StringMap {
  const { ranks, local } = rank;
  const { processes, world, groupRank, groups, master } = ranks;
  // Otherwise each of several processes would take all processors.
  const threads = processes > 1 && env['OMP_NUM_THREADS'] === undefined;
  return {
    LOCAL_RANK: String(local),
    LOCAL_WORLD_SIZE: String(processes),
    GROUP_RANK: String(groupRank),
    GROUP_WORLD_SIZE: String(groups),
    RANK: String(rankOf(rank)),
    WORLD_SIZE: String(world),
    MASTER_ADDR: master,
    MASTER_PORT: env['MASTER_PORT'] ?? MASTER_PORT,
    ...(threads ? { OMP_NUM_THREADS: '1' } : {}),
    [ENV_PROCESSES]: String(processes),
  };
}
