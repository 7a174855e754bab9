/** What the compiled parts of an expression share while it is evaluated. */
import { type Budget, COST_EXCEEDED } from './budget.ts';
import { CHARACTER_COST } from './limits.ts';
import type { CelError, CelResult } from './value.ts';

/** One evaluation: the values of the variables, and what it may still cost. */
export interface Frame {
  readonly slots: CelResult[];
  readonly budget: Budget;
}

export type Run = (frame: Frame) => CelResult;

/** Pays for reading bytes, which are decoded at each read. */
export function paid<T extends CelResult | undefined>(member: T, { budget }: Frame): T | CelError {
  const isPaid = !(member instanceof Uint8Array) || budget.spend(member.length * CHARACTER_COST);
  return isPaid ? member : COST_EXCEEDED;
}
