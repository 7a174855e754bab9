/** Where the time of a simulated run went, by the classes of `docs/design/goodput.md`. */
import type { AccountedClass } from '../../jobset/jobset-status.ts';

/** Classes of `status.goodput` that a run has: it is never suspended, and its workers report. */
export const CLASSES = [
  'Waiting',
  'Starting',
  'Productive',
  'Lost',
  'Hung',
  'Restarting',
] as const satisfies readonly AccountedClass[];
export type TimeClass = (typeof CLASSES)[number];
export type Sums = Readonly<Record<TimeClass, number>>;

/** Each millisecond is in one class. */
export class Ledger {
  readonly #sums = new Map<TimeClass, number>();
  #untilMs = 0;

  /** All time since the last call, up to `nowMs`, was of that class. */
  pass(nowMs: number, of: TimeClass): void {
    this.#sums.set(of, this.ms(of) + nowMs - this.#untilMs);
    this.#untilMs = nowMs;
  }

  ms(of: TimeClass): number {
    return this.#sums.get(of) ?? 0;
  }

  /** Milliseconds in each class. */
  get sums(): Sums {
    return Object.fromEntries(CLASSES.map((each) => [each, this.ms(each)])) as Sums;
  }

  /** The sum of all classes. */
  get elapsedMs(): number {
    return this.#untilMs;
  }

  /** The share of the time that was productive, from 0 to 1. */
  get effective(): number {
    return this.ms('Productive') / this.#untilMs;
  }
}

/**
 * What two accounts of one run may differ by, as a share of each class: the operator measures a start
 * from the write of the release, and this ledger from the decision.
 */
const TOLERANCE = 0.002;

/** The classes in which two accounts of one run are not the same, in words. */
export function differences(own: Sums, status: Sums): readonly string[] {
  return CLASSES.filter((each) => {
    return Math.abs(own[each] - status[each]) > TOLERANCE * Math.max(own[each], status[each]);
  }).map((each) => `${each} is ${own[each]} ms here and ${status[each]} ms in the status`);
}
