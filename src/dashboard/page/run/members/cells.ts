/** The cells of the grid: one for each member, or one for each rank. */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { RankLag } from '../../../../jobset/progress/progress.ts';
import type { ProgressView } from '../../../../jobset/view/status-view.ts';
import type { RunMember } from '../../../messages/run.ts';

/** A cell by rank shows what is known of that process, in the place of the whole member. */
export interface Cell extends RunMember {
  /** A local rank; absent: the cell is the whole member. */
  readonly process?: number;
}

/** More cells than these are too small to be seen. */
export const MAX_RANK_CELLS = 8192;

/** How many ranks the members have together; 0 if no member has several, or they are too many to show. */
export function rankCount(members: readonly RunMember[]): number {
  let count = 0;
  for (const member of members) count += processesOf(member);
  return count === members.length || count > MAX_RANK_CELLS ? 0 : count;
}

/** How many processes of the member are known: as many as its agent starts, or as report. */
export function processesOf({ ranks, progress }: RunMember): number {
  return ranks?.count ?? progress?.ranks ?? 1;
}

/** A rank that does not lag is as far, and as silent, as most of its member are. */
export function rankCells(members: readonly RunMember[]): readonly Cell[] {
  return members.flatMap((member): readonly Cell[] => {
    const { progress } = member;
    const processes = processesOf(member);
    if (processes === 1) return [member];
    const { lag = [], rest } = progress ?? {};
    return Array.from({ length: processes }, (_, process): Cell => {
      const own = lag.find(({ local }) => local === process) ?? rest;
      return { ...member, process, progress: progress && own ? ofRank(progress, own) : progress };
    });
  });
}

function ofRank(
  { step: _step, phase: _phase, ...rest }: ProgressView,
  { step, phase, silentMs }: Omit<RankLag, 'local'>,
): ProgressView {
  return { ...rest, ...defined({ step, phase }), silentMs };
}

/** Names a cell: of two members or ranks, no two have the same. */
export function cellKey({ pod, process }: Pick<Cell, 'pod' | 'process'>): string {
  return process === undefined ? pod : `${pod}/${process}`;
}
