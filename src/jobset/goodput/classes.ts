/** The classes of time, as readers see them. */
import { ACCOUNTED, type AccountedClass } from '../jobset-status.ts';

/** `Pending`: work since the newest checkpoint, which the next checkpoint saves or an end loses. */
export type GoodputClass = AccountedClass | 'Pending';

/** The name of a class for people. JSON and metrics use the class itself. */
export function classLabel(name: GoodputClass): string {
  return name === 'Pending' ? 'Unsaved' : name;
}

/** Explains a class to a reader who sees it for the first time. */
export const CLASS_MEANINGS: Readonly<Record<GoodputClass, string>> = {
  Productive: 'work that a checkpoint or the end has saved',
  Pending: 'work that the next checkpoint will save',
  Lost: 'work that no checkpoint had saved',
  Hung: 'the silence of a worker that hung',
  Starting: 'from a release to the first step',
  Restarting: 'from the end of an epoch to the next release',
  Waiting: 'before the first release, or after a resume',
  Suspended: 'the JobSet was suspended',
  Running: 'workers ran, and told of no checkpoint',
};

/** Fields of `status.goodput`. */
export type GoodputSum = `${Lowercase<AccountedClass>}Ms`;

/** Milliseconds. */
export type Sums = Readonly<Record<AccountedClass, number>>;

export function sumsOf(goodput: { readonly [S in GoodputSum]?: number }): Sums {
  const sum = (name: AccountedClass): readonly [AccountedClass, number] => {
    const key = `${name.toLowerCase()}Ms` as GoodputSum;
    return [name, goodput[key] ?? 0];
  };
  return Object.fromEntries(ACCOUNTED.map(sum)) as Sums;
}

export function totalOf(sums: Sums): number {
  return ACCOUNTED.reduce((total, name) => total + sums[name], 0);
}
