/** What a JobSet may spend on failures, as users see it. */
import type { JobSet } from '../jobset.ts';
import { asRecorded } from '../overrides/recorded-annotations.ts';
import { extraRestarts } from '../policies/ladder-settings.ts';
import { allowedRestarts, countedRestarts } from '../policies/restart-budget.ts';

/** What a JobSet may spend on failures, and what it has spent. */
export interface RestartBudget {
  /** All that count towards `maxRestarts`. */
  readonly countedRestarts: number;
  /** With `extraRestarts`. */
  readonly maxRestarts: number;
  /** What an annotation adds. */
  readonly extraRestarts: number;
  /** Restarts in a row that led to no higher checkpoint; 0 if their number is not limited. */
  readonly restartsWithoutProgress: number;
}

export function restartBudget(jobSet: JobSet): RestartBudget {
  const { metadata, spec, status = {} } = asRecorded(jobSet);
  return {
    countedRestarts: countedRestarts(status),
    maxRestarts: allowedRestarts({ metadata, spec }),
    extraRestarts: extraRestarts(metadata.annotations),
    restartsWithoutProgress: status.progress?.restartsWithoutProgress ?? 0,
  };
}
