/** The budget of restarts, as users see it. */
import type { JobSet } from '../jobset.ts';
import { asRecorded } from '../overrides/recorded-annotations.ts';
import { extraRestarts } from '../policies/ladder-settings.ts';
import { allowedRestarts, countedRestarts } from '../policies/restart-budget.ts';

/** The restarts that a JobSet may use for failures, and has used. */
export interface RestartBudget {
  /** All restarts that count towards `maxRestarts`. */
  readonly countedRestarts: number;
  /** Includes `extraRestarts`. */
  readonly maxRestarts: number;
  /** The restarts that an annotation adds. */
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
