/**
 * Sets of completion indexes in the text form of Job status: ascending, separated by commas, three
 * or more neighbours joined as `first-last`, such as `0,2-5,7,8`. Sets are kept as ranges, so
 * `0-2147483647` needs no more memory than `0`.
 */
export type IndexSet = readonly IndexRange[];

/** First and last index, both included. */
export type IndexRange = readonly [first: number, last: number];

/** The set; undefined if `text` is malformed, descending, overlapping or out of range. */
export function parseIndexSet(text: string): IndexSet | undefined {
  if (text === '') return [];
  const ranges: IndexRange[] = [];
  let previous = -1;
  for (const part of text.split(',')) {
    const match = RANGE.exec(part);
    if (match === null) return undefined;
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    if (first <= previous || last < first || last > MAX_INDEX) return undefined;
    ranges.push([first, last]);
    previous = last;
  }
  return ranges;
}

/** The canonical text of `indexes`, in any order, with or without repeats. */
export function formatIndexSet(indexes: Iterable<number>): string {
  return rangesOf(indexes)
    .map(([first, last]) => {
      if (first === last) return `${first}`;
      return `${first}${last === first + 1 ? ',' : '-'}${last}`;
    })
    .join(',');
}

export function hasIndex(set: IndexSet, index: number): boolean {
  return set.some(([first, last]) => first <= index && index <= last);
}

/** How many members the set has. */
export function sizeOfSet(set: IndexSet): number {
  return set.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

/** How many of `indexes`, each given once, are members. */
export function countMembers(set: IndexSet, indexes: Iterable<number>): number {
  const ascending = [...indexes].sort((a, b) => a - b);
  let count = 0;
  let at = 0;
  for (const [first, last] of set) {
    for (; at < ascending.length && (ascending[at] ?? 0) < first; at++);
    for (; at < ascending.length && (ascending[at] ?? 0) <= last; at++) count++;
  }
  return count;
}

/** The members below `limit`, ascending. */
export function indexesBelow(set: IndexSet, limit: number): number[] {
  const indexes: number[] = [];
  for (const [first, last] of set) {
    for (let index = first; index <= last && index < limit; index++) indexes.push(index);
  }
  return indexes;
}

/** The members of a set in text form, ascending; none if the text is invalid. */
export function indexesOf(text: string): readonly number[] {
  return indexesBelow(parseIndexSet(text) ?? [], MAX_COMPLETIONS);
}

const RANGE = /^(\d{1,10})(?:-(\d{1,10}))?$/;

/** `completions` is an int32. */
const MAX_INDEX = 2 ** 31 - 1;

/** Ten times what the API allows for an Indexed Job; a longer text must not fill the memory. */
const MAX_COMPLETIONS = 1_000_000;

function rangesOf(indexes: Iterable<number>): IndexSet {
  const ranges: [number, number][] = [];
  for (const index of [...indexes].sort((a, b) => a - b)) {
    const current = ranges.at(-1);
    if (current !== undefined && index <= current[1] + 1) current[1] = index;
    else ranges.push([index, index]);
  }
  return ranges;
}
