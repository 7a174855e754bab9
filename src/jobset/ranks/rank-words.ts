/** Ranks in words. */
import { humanDuration } from '@lockstep/kube/duration.ts';
import type { Progress, RankLag } from '../progress/progress.ts';

/** `rank 107 (process 3)`, or `process 3` where the program does not say its rank. */
export function processInWords(process: number, rank: number | undefined): string {
  return rank === undefined ? `process ${process}` : `rank ${rank} (process ${process})`;
}

/** `rank 107 (process 3) at step 328, silent 41s`, for each that lags behind the others of its Pod. */
export function lagInWords({ lag = [] }: Pick<Progress, 'lag'>): readonly string[] {
  return lag.map((rank) => `${processInWords(rank.local, rank.rank)} ${whereInWords(rank)}`);
}

function whereInWords({ step, phase, silentMs }: RankLag): string {
  const place = step === undefined ? phase : `step ${step.toLocaleString('en')}`;
  const where = place === undefined ? '' : `at ${place}, `;
  return `${where}silent ${humanDuration(silentMs)}`;
}
