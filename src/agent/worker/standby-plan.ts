/** When a Pod gets its next standby, from the ends of earlier ones. */
import type { StandbyRefusal } from '../../jobset/progress/standby.ts';

/** `Dropped`: it was killed for another reason than a fault of its own. */
export type StandbyEnd = StandbyRefusal | 'Died' | 'Dropped' | 'Promoted';

export interface StandbyPlan {
  readonly refusal?: StandbyRefusal;
  /** How many have died, one after the other. */
  readonly deaths: number;
  /** When the next one may start; monotonic, in milliseconds. */
  readonly notBeforeMs: number;
}

export const FIRST_BACKOFF_MS = 1000;
export const MAX_BACKOFF_MS = 5 * 60_000;
/** Once a standby has lived for this time, earlier deaths no longer count. */
export const LONG_LIFE_MS = 10 * 60_000;

export const NO_STANDBY_YET: StandbyPlan = { deaths: 0, notBeforeMs: 0 };

export function afterStandby(
  plan: StandbyPlan,
  end: StandbyEnd,
  { nowMs, livedMs }: { readonly nowMs: number; readonly livedMs: number },
): StandbyPlan {
  switch (end) {
    case 'Promoted':
      return NO_STANDBY_YET;
    case 'Dropped':
      return plan;
    case 'Died': {
      const before = livedMs >= LONG_LIFE_MS ? 0 : plan.deaths;
      const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** before);
      return { deaths: before + 1, notBeforeMs: nowMs + backoffMs };
    }
    case 'Reported':
    case 'Exited':
    case 'OutOfMemory':
      return { ...plan, refusal: end };
  }
}
