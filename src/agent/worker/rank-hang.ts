/** Which rank of a Pod that hangs does something that the others of the Pod do not do. */
import type { Activity } from './tree-watch.ts';

export interface RankActivity extends Activity {
  readonly local: number;
  /** The newest step that it has reported. */
  readonly step?: number;
}

/** CPU time in 5 s. More than half a processor is busy. */
const BUSY_CPU_MS = 2500;
const IDLE_CPU_MS = 500;
/** A thread that spins never sleeps, even with little CPU. */
const SPINNING_MS = 4500;
const WAITING_MS = 2500;

/** The local rank; undefined if there is no clear one. */
export function oddRank(ranks: readonly RankActivity[]): number | undefined {
  if (ranks.length < 2) return undefined;
  const stopped = ranks.filter(({ isStopped }) => isStopped);
  if (stopped.length > 0) return only(stopped);
  const steps = ranks.map(({ step }) => step ?? 0);
  const newest = Math.max(...steps);
  const behind = ranks.filter((_, index) => (steps[index] ?? 0) < newest);
  const isStepping = ranks.every(({ step }) => step !== undefined);
  if (isStepping && behind.length > 0) return only(behind);
  const [busy, idle] = [ranks.filter(isBusy), ranks.filter(isIdle)];
  if (busy.length + idle.length < ranks.length) return undefined;
  // If there are two, nothing says which one is odd.
  return ranks.length === 2 ? undefined : (only(busy) ?? only(idle));
}

function only(ranks: readonly RankActivity[]): number | undefined {
  return ranks.length === 1 ? ranks[0]?.local : undefined;
}

function isBusy({ cpuMs, runnableMs = 0 }: RankActivity): boolean {
  return cpuMs !== undefined && (cpuMs >= BUSY_CPU_MS || runnableMs >= SPINNING_MS);
}

function isIdle(rank: RankActivity): boolean {
  const { cpuMs, runnableMs } = rank;
  if (cpuMs === undefined || isBusy(rank)) return false;
  return runnableMs === undefined ? cpuMs <= IDLE_CPU_MS : runnableMs <= WAITING_MS;
}
