/** The classes of time, as readers see them. */
import type { Goodput } from '../jobset.ts';
import type { GoodputSum } from './account.ts';

/** Those whose sums never fall, in the order of a run. */
export const ACCOUNTED = [
  'Waiting',
  'Suspended',
  'Starting',
  'Productive',
  'Lost',
  'Hung',
  'Restarting',
  'Running',
] as const;
export type AccountedClass = (typeof ACCOUNTED)[number];

/** `Pending`: work since the newest checkpoint, which the next checkpoint saves or an end loses. */
export type GoodputClass = AccountedClass | 'Pending';

/** Milliseconds. */
export function sumsOf(goodput: Goodput): Record<AccountedClass, number> {
  const sum = (name: AccountedClass): readonly [AccountedClass, number] => {
    const key = `${name.toLowerCase()}Ms` as GoodputSum;
    return [name, goodput[key] ?? 0];
  };
  return Object.fromEntries(ACCOUNTED.map(sum)) as Record<AccountedClass, number>;
}
