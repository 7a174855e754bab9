/** Functions of strings, with positions in code points (`cel-go/ext/strings`, version 2). */
import { quote } from '@lockstep/kube/quote.ts';
import { type Budget, COST_EXCEEDED } from '../budget.ts';
import { CHARACTER_COST } from '../limits.ts';
import { INT, LIST, type Overload, overload, STRING, STRINGS } from '../overload.ts';
import { BOOL_TYPE, INT_TYPE, listOf, STRING_TYPE } from '../type.ts';
import { CelError, CelList, type CelResult } from '../value.ts';
import { characterCount } from './conversions.ts';
import { formatText } from './text-format.ts';

const STRING_LIST = listOf(STRING_TYPE);

/** The cost of one look at every character of the first text. */
const PASS = { cost: ([size = 0]: readonly number[]) => 1 + size * CHARACTER_COST };
/** The cost of a search: every position may be compared with the whole needle. */
const SEARCH = {
  cost: ([size = 0, part = 0]: readonly number[]) =>
    1 + (size + Math.min(size * part, MAX_SEARCH)) * CHARACTER_COST,
  resultSize: () => 1,
};
/** Searches are linear in practice; their worst case is a product, bounded by this. */
const MAX_SEARCH = 1_000_000;
const MEASURE = { ...PASS, resultSize: () => 1 };

const TESTS: readonly Overload[] = [
  overload('.startsWith', [STRING, STRING], BOOL_TYPE, ([text, part]) => text.startsWith(part), {
    cost: ([, part = 0]) => 1 + part * CHARACTER_COST,
    resultSize: () => 1,
  }),
  overload('.endsWith', [STRING, STRING], BOOL_TYPE, ([text, part]) => text.endsWith(part), {
    cost: ([, part = 0]) => 1 + part * CHARACTER_COST,
    resultSize: () => 1,
  }),
  overload(
    '.contains',
    [STRING, STRING],
    BOOL_TYPE,
    ([text, part]) => text.includes(part),
    MEASURE,
  ),
];

const POSITIONS: readonly Overload[] = [
  overload('.charAt', [STRING, INT], STRING_TYPE, ([text, at]) => charAt(text, at), {
    ...PASS,
    resultSize: () => 1,
  }),
  overload(
    '.indexOf',
    [STRING, STRING],
    INT_TYPE,
    ([text, part]) => indexOf(text, part, 0n),
    MEASURE,
  ),
  overload(
    '.indexOf',
    [STRING, STRING, INT],
    INT_TYPE,
    ([text, part, from]) => indexOf(text, part, from),
    MEASURE,
  ),
  overload(
    '.lastIndexOf',
    [STRING, STRING],
    INT_TYPE,
    ([text, part]) => lastIndexOf(text, part, undefined),
    SEARCH,
  ),
  overload(
    '.lastIndexOf',
    [STRING, STRING, INT],
    INT_TYPE,
    ([text, part, from]) => lastIndexOf(text, part, from),
    SEARCH,
  ),
  overload(
    '.substring',
    [STRING, INT],
    STRING_TYPE,
    ([text, from]) => substring(text, from, undefined),
    PASS,
  ),
  overload(
    '.substring',
    [STRING, INT, INT],
    STRING_TYPE,
    ([text, from, to]) => substring(text, from, to),
    PASS,
  ),
];

const CHANGES: readonly Overload[] = [
  overload('.lowerAscii', [STRING], STRING_TYPE, ([text]) => text.replace(/[A-Z]+/g, lower), PASS),
  overload('.upperAscii', [STRING], STRING_TYPE, ([text]) => text.replace(/[a-z]+/g, upper), PASS),
  overload('.trim', [STRING], STRING_TYPE, ([text]) => text.trim(), PASS),
  overload('strings.quote', [STRING], STRING_TYPE, ([text]) => quote(text), {
    ...PASS,
    resultSize: ([size = 0]) => size * 2 + 2,
  }),
  overload(
    '.replace',
    [STRING, STRING, STRING],
    STRING_TYPE,
    ([text, part, by], budget) => replaced([text, part, by], -1n, budget),
    { ...PASS, resultSize: replacedSize },
  ),
  overload(
    '.replace',
    [STRING, STRING, STRING, INT],
    STRING_TYPE,
    ([text, part, by, limit], budget) => replaced([text, part, by], limit, budget),
    { ...PASS, resultSize: replacedSize },
  ),
];

const LISTS: readonly Overload[] = [
  overload('.split', [STRING, STRING], STRING_LIST, ([text, by]) => split(text, by, -1n), PASS),
  overload(
    '.split',
    [STRING, STRING, INT],
    STRING_LIST,
    ([text, by, limit]) => split(text, by, limit),
    PASS,
  ),
  overload('.join', [STRINGS], STRING_TYPE, ([list], budget) => joined(list, '', budget)),
  overload('.join', [STRINGS, STRING], STRING_TYPE, ([list, by], budget) =>
    joined(list, by, budget),
  ),
  overload('.format', [STRING, LIST], STRING_TYPE, ([pattern, list], budget) =>
    formatText(pattern, list, budget),
  ),
];

export const STRING_FUNCTIONS: readonly Overload[] = [...TESTS, ...POSITIONS, ...CHANGES, ...LISTS];

const lower = (text: string): string => text.toLowerCase();
const upper = (text: string): string => text.toUpperCase();

/** The code points of a text; a text in which every unit is one is returned unchanged. */
function characters(text: string): readonly string[] | string {
  return characterCount(text) === text.length ? text : Array.from(text);
}

function sliced(text: readonly string[] | string, from: number, to: number): string {
  return typeof text === 'string' ? text.slice(from, to) : text.slice(from, to).join('');
}

function outOfRange(index: bigint): CelError {
  return new CelError(`index out of range: ${index}`);
}

function charAt(text: string, at: bigint): CelResult {
  const all = characters(text);
  if (at < 0n || at > BigInt(all.length)) return outOfRange(at);
  return sliced(all, Number(at), Number(at) + 1);
}

function substring(text: string, from: bigint, to: bigint | undefined): CelResult {
  const all = characters(text);
  const length = BigInt(all.length);
  const end = to ?? length;
  if (from < 0n || from > length) return outOfRange(from);
  if (end < 0n || end > length) return outOfRange(end);
  if (from > end) {
    return new CelError(`invalid substring range. start: ${from}, end: ${end}`);
  }
  return sliced(all, Number(from), Number(end));
}

function indexOf(text: string, part: string, from: bigint): CelResult {
  const all = characters(text);
  if (from < 0n) return outOfRange(from);
  if (from > BigInt(all.length)) return -1n;
  const start = sliced(all, 0, Number(from)).length;
  const found = text.indexOf(part, start);
  return found < 0 ? -1n : BigInt(characters(text.slice(0, found)).length);
}

function lastIndexOf(text: string, part: string, from: bigint | undefined): CelResult {
  const all = characters(text);
  if (from !== undefined && (from < 0n || from > BigInt(all.length))) return outOfRange(from);
  const start = from === undefined ? text.length : sliced(all, 0, Number(from)).length;
  const found = text.lastIndexOf(part, start);
  return found < 0 ? -1n : BigInt(characters(text.slice(0, found)).length);
}

function replacedSize([text = 0, , by = 0]: readonly number[]): number {
  return text + (text + 1) * by;
}

function replaced(
  [text, part, by]: readonly [text: string, part: string, by: string],
  limit: bigint,
  budget: Budget,
): CelResult {
  const pieces = splitAt(text, part, limit);
  const size = text.length + pieces.length * by.length;
  if (!budget.spend(size * CHARACTER_COST)) return COST_EXCEEDED;
  return pieces.join(by);
}

/** Splits at up to `limit` occurrences of `by`; a negative limit means all. */
function splitAt(text: string, by: string, limit: bigint): readonly string[] {
  if (limit === 0n) return [text];
  const all = by === '' ? ['', ...Array.from(text), ''] : text.split(by);
  // An empty text lies before, between and after all characters.
  const pieces = by === '' && text === '' ? ['', ''] : all;
  if (limit < 0n || BigInt(pieces.length - 1) <= limit) return pieces;
  const kept = Number(limit);
  return [...pieces.slice(0, kept), pieces.slice(kept).join(by)];
}

function split(text: string, by: string, limit: bigint): CelResult {
  if (limit === 0n) return CelList.of([]);
  if (by === '') {
    const all = Array.from(text);
    if (limit < 0n || BigInt(all.length) <= limit) return CelList.of(all);
    const kept = Number(limit) - 1;
    return CelList.of([...all.slice(0, kept), all.slice(kept).join('')]);
  }
  return CelList.of(splitAt(text, by, limit < 0n ? limit : limit - 1n));
}

function joined(list: CelList, by: string, budget: Budget): CelResult {
  const texts: string[] = [];
  for (let index = 0; index < list.size; index++) {
    const item = list.at(index);
    if (item instanceof CelError) return item;
    if (typeof item !== 'string') return new CelError('no such overload');
    const size = 1 + item.length + by.length;
    if (!budget.spend(size * CHARACTER_COST)) return COST_EXCEEDED;
    texts.push(item);
  }
  return texts.join(by);
}
