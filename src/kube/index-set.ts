/**
 * Sets of completion indexes in the text form of Job status: ascending, separated by commas, three
 * or more neighbours joined as `first-last`, such as `0,2-5,7,8` (spec
 * container-restart-and-jobs.md, 7.4). Kept as ranges, so that `0-2147483647` costs nothing.
 */
export type IndexSet = readonly IndexRange[];

/** First and last index, both included. */
export type IndexRange = readonly [first: number, last: number];

/** Digits only, small enough to stay exact: completions are at most 2^31 - 1. */
const RANGE = /^(\d{1,10})(?:-(\d{1,10}))?$/;

/** The set, or undefined if `text` is not one: bad syntax, descending, or overlapping. */
export function parseIndexSet(text: string): IndexSet | undefined {
  if (text === '') return [];
  const ranges: IndexRange[] = [];
  let previous = -1;
  for (const part of text.split(',')) {
    const match = RANGE.exec(part);
    if (match === null) return undefined;
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    if (first <= previous || last < first) return undefined;
    ranges.push([first, last]);
    previous = last;
  }
  return ranges;
}

/** The canonical text of `indexes`, given in any order, with or without repeats. */
export function formatIndexSet(indexes: Iterable<number>): string {
  const sorted = [...new Set(indexes)].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let start = 0; start < sorted.length; ) {
    const first = sorted[start] ?? 0;
    let end = start + 1;
    while (sorted[end] === first + (end - start)) end++;
    const last = sorted[end - 1] ?? first;
    if (last - first >= 2) parts.push(`${first}-${last}`);
    else if (last > first) parts.push(`${first},${last}`);
    else parts.push(`${first}`);
    start = end;
  }
  return parts.join(',');
}

/** The members below `limit`, ascending. */
export function indexesBelow(set: IndexSet, limit: number): number[] {
  const indexes: number[] = [];
  for (const [first, last] of set) {
    for (let index = first; index <= last && index < limit; index++) indexes.push(index);
  }
  return indexes;
}

export function hasIndex(set: IndexSet, index: number): boolean {
  return set.some(([first, last]) => first <= index && index <= last);
}
