/** Why a JobSet may not restart once more: its budget is spent, or its restarts do not help. */
import { allowedRestarts, countedRestarts } from '../../policies/restart-budget.ts';
import type { Facts } from '../facts.ts';
import { lackOfProgress } from './ended-progress.ts';

/** Why the JobSet fails, as the reason and the message of its condition. */
export interface LastFailure {
  readonly reason: 'ReachedMaxRestarts' | 'NoProgress';
  readonly message: string;
}

/** Why one more counted restart would be one too many; undefined: it is allowed. */
export function whyNoRestart(facts: Facts): LastFailure | undefined {
  if (countedRestarts(facts.status) >= allowedRestarts(facts.jobSet)) {
    const message = 'jobset failed due to reaching max number of restarts';
    return { reason: 'ReachedMaxRestarts', message };
  }
  const lack = lackOfProgress(facts);
  if (lack === undefined) return undefined;
  return { reason: 'NoProgress', message: `jobset failed because ${lack}` };
}
