/** The cells of a row in words. */
import type { OverviewRow } from '../../../jobset/view/overview.ts';

/** `63 of 64`. */
export function readyText({ ready, size }: Pick<OverviewRow, 'ready' | 'size'>): string {
  return `${ready ?? '?'} of ${size}`;
}

/** From here on `maxRestarts` is no limit for anybody. */
const NO_LIMIT = 1_000_000_000;

export interface BudgetWords {
  readonly text: string;
  readonly isSpent: boolean;
}

/** What is left to spend on failures. */
export function budgetWords({ budget }: Pick<OverviewRow, 'budget'>): BudgetWords {
  const { countedRestarts, maxRestarts } = budget;
  if (maxRestarts >= NO_LIMIT) return { text: 'no limit', isSpent: false };
  if (maxRestarts === 0) return { text: 'none allowed', isSpent: false };
  const left = Math.max(0, maxRestarts - countedRestarts);
  const text = left === 0 ? `none of ${maxRestarts} left` : `${left} of ${maxRestarts} left`;
  return { text, isSpent: left === 0 };
}
