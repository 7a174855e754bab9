/** Lists of completion indexes as `batch/v1` writes them, such as `0,2-5`, and their problems. */
import { hasIndex, type IndexSet, parseIndexSet } from '@lockstep/kube/index-set.ts';

/** How many indexes a text lists, or why it is not a list of indexes below `completions`. */
export type IndexCount = { readonly count: number } | { readonly problem: string };

export function countIndexes(text: string, completions: number): IndexCount {
  if (text === '') return { count: 0 };
  let previous: number | undefined;
  let count = 0;
  for (const interval of text.split(',')) {
    const limits = interval.split('-');
    if (limits.length > 2) {
      const problem = `the fragment ${JSON.stringify(interval)} violates the requirement that an index interval can have at most two parts separated by '-'`;
      return { problem };
    }
    for (const [end, limit] of limits.entries()) {
      const index = parseIndex(limit);
      if (index === undefined) {
        return { problem: `cannot convert string to integer for index: ${JSON.stringify(limit)}` };
      }
      if (index >= completions) return { problem: `too large index: ${JSON.stringify(limit)}` };
      if (previous !== undefined && previous >= index) {
        return { problem: `non-increasing order, previous: ${previous}, current: ${index}` };
      }
      count += end === 0 ? 1 : index - (previous ?? 0);
      previous = index;
    }
  }
  return { count };
}

/** The first index that both texts list, if they are lists of indexes at all. */
export function commonIndex(one: string, other: string): number | undefined {
  const [first, second] = [parseIndexSet(one), parseIndexSet(other)];
  if (first === undefined || second === undefined) return undefined;
  const candidates = [...startsIn(first, second), ...startsIn(second, first)];
  return candidates.length === 0 ? undefined : Math.min(...candidates);
}

/** The overlap of two sets begins where a range of one of them begins. */
function startsIn(ranges: IndexSet, set: IndexSet): readonly number[] {
  return ranges.map(([start]) => start).filter((start) => hasIndex(set, start));
}

function parseIndex(text: string): number | undefined {
  return /^[+-]?[0-9]+$/.test(text) ? Number(text) : undefined;
}
