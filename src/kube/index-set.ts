/**
 * Sets of completion indexes as the status of a Job writes them: `1,3-5,7`, in order; two neighbours
 * are written `a,b`, three or more `a-c`.
 */
export type IndexSet = readonly IndexRange[];

/** Both ends belong to it. */
export interface IndexRange {
  readonly first: number;
  readonly last: number;
}

/** Undefined for a text that is no such set. Ranges must ascend, as the server writes them. */
export function parseIndexSet(text: string): IndexSet | undefined {
  if (text === '') return [];
  const ranges: IndexRange[] = [];
  let previous = -1;
  for (const part of text.split(',')) {
    const range = RANGE.exec(part);
    if (range === null) return undefined;
    const first = Number(range[1]);
    const last = range[2] === undefined ? first : Number(range[2]);
    if (first <= previous || last < first || last > MAX_INDEX) return undefined;
    ranges.push({ first, last });
    previous = last;
  }
  return ranges;
}

export function formatIndexSet(indexes: Iterable<number>): string {
  const parts: string[] = [];
  for (const { first, last } of rangesOf(indexes)) {
    if (last === first) parts.push(`${first}`);
    else parts.push(`${first}${last === first + 1 ? ',' : '-'}${last}`);
  }
  return parts.join(',');
}

export function containsIndex(set: IndexSet, index: number): boolean {
  let low = 0;
  let high = set.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const range = set[middle];
    if (range === undefined) return false;
    if (index < range.first) high = middle;
    else if (index > range.last) low = middle + 1;
    else return true;
  }
  return false;
}

export function indexCount(set: IndexSet): number {
  return set.reduce((sum, { first, last }) => sum + last - first + 1, 0);
}

/** The indexes of a set in text form, in order; none of a text that is no set. */
export function* indexesOf(text: string): Generator<number, void> {
  for (const { first, last } of parseIndexSet(text) ?? []) {
    for (let index = first; index <= last; index++) yield index;
  }
}

const RANGE = /^([0-9]{1,10})(?:-([0-9]{1,10}))?$/;

/** Completions are int32. */
const MAX_INDEX = 2 ** 31 - 1;

function rangesOf(indexes: Iterable<number>): IndexSet {
  const ranges: { first: number; last: number }[] = [];
  for (const index of [...indexes].sort((a, b) => a - b)) {
    const current = ranges.at(-1);
    if (current !== undefined && index <= current.last + 1) current.last = index;
    else ranges.push({ first: index, last: index });
  }
  return ranges;
}
