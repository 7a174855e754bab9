/** `'%s has %d'.format([a, b])`, with the verbs of `cel-go/ext/strings`. */
import { quote } from '@lockstep/kube/quote.ts';
import { type Budget, COST_EXCEEDED } from '../budget.ts';
import { durationText } from '../duration.ts';
import { CHARACTER_COST } from '../limits.ts';
import { timestampText } from '../timestamp.ts';
import {
  CelError,
  CelList,
  CelMap,
  type CelResult,
  type CelValue,
  Duration,
  Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
} from '../value.ts';
import { doubleText } from './conversions.ts';

/** Replaces the verbs of the pattern by the items of `list`, in order. */
export function formatText(pattern: string, list: CelList, budget: Budget): CelResult {
  let text = '';
  let next = 0;
  for (const part of pattern.split(VERB)) {
    const verb = /^%(?:\.(\d+))?([a-zA-Z%])$/.exec(part);
    if (verb === null) {
      if (part.includes('%')) return new CelError('could not parse formatting clause');
      text += part;
    } else if (part === '%%') {
      text += '%';
    } else {
      if (next >= list.size) return new CelError(`index ${next} out of range`);
      const value = list.at(next++);
      if (value instanceof CelError) return value;
      const [, precision, letter = ''] = verb;
      const shown = formatValue(value, letter, precision, budget);
      if (shown instanceof CelError) return shown;
      text += shown;
    }
    if (!budget.spend(1 + part.length * CHARACTER_COST)) return COST_EXCEEDED;
  }
  return text;
}

const VERB = /(%(?:\.\d+)?[a-zA-Z%])/;
const DEFAULT_PRECISION = 6;
const MAX_PRECISION = 100;

function formatValue(
  value: CelValue,
  verb: string,
  precision: string | undefined,
  budget: Budget,
): string | CelError {
  switch (verb) {
    case 's':
      return plainText(value, budget);
    case 'd':
      return wholeText(value, 10) ?? misused('decimal clause can only be used on integers', value);
    case 'o':
      return wholeText(value, 8) ?? misused('octal clause can only be used on integers', value);
    case 'b':
      if (typeof value === 'boolean') return String(Number(value));
      return (
        wholeText(value, 2) ?? misused('only integers and bools can be formatted as binary', value)
      );
    case 'x':
    case 'X': {
      const text = hexText(value);
      if (text !== undefined) return verb === 'X' ? text.toUpperCase() : text;
      return misused('only integers, byte buffers, and strings can be formatted as hex', value);
    }
    case 'f':
      if (typeof value !== 'number') return misused(`fixed-point ${DOUBLES_ONLY}`, value);
      return fixedText(value, Math.min(Number(precision ?? DEFAULT_PRECISION), MAX_PRECISION));
    case 'e':
      if (typeof value !== 'number') return misused(`scientific ${DOUBLES_ONLY}`, value);
      return scientificText(value);
    default: {
      const why = `unrecognized formatting clause "${verb}"`;
      return new CelError(`could not parse formatting clause: ${why}`);
    }
  }
}

const DOUBLES_ONLY = 'clause can only be used on doubles';

function misused(rule: string, value: CelValue): CelError {
  return new CelError(`error during formatting: ${rule}, was given ${typeNameOf(value)}`);
}

function wholeText(value: CelValue, base: number): string | undefined {
  if (typeof value === 'bigint') return value.toString(base);
  return value instanceof Uint ? value.value.toString(base) : undefined;
}

function hexText(value: CelValue): string | undefined {
  const isText = typeof value === 'string' || value instanceof Uint8Array;
  return isText ? Buffer.from(value).toString('hex') : wholeText(value, 16);
}

function fixedText(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : doubleText(value);
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** Formats as cel-go does, `1.234500×10⁰³`, always with this precision. */
function scientificText(value: number): string {
  if (!Number.isFinite(value)) return doubleText(value);
  const [digits = '', exponent = '0'] = value.toExponential(DEFAULT_PRECISION).split('e');
  const raised = Math.abs(Number(exponent))
    .toString()
    .padStart(2, '0')
    .replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)] ?? '');
  return `${digits}×10${exponent.startsWith('-') ? '⁻' : ''}${raised}`;
}

/** Formats a value as `%s` does, and pays for each of its parts. */
function plainText(value: CelValue, budget: Budget): string | CelError {
  if (!budget.spend(typeof value === 'string' ? 1 + value.length * CHARACTER_COST : 1)) {
    return COST_EXCEEDED;
  }
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return doubleText(value);
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') {
    return String(value);
  }
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof CelList) return listText(value, budget);
  if (value instanceof CelMap) return mapText(value, budget);
  return misused(
    'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
    value,
  );
}

/** Within lists and maps, texts are quoted and doubles have six decimals. */
function partText(value: CelResult, budget: Budget): string | CelError {
  if (value instanceof CelError) return value;
  if (typeof value === 'number') return fixedText(value, DEFAULT_PRECISION);
  const text = plainText(value, budget);
  return typeof value === 'string' && typeof text === 'string' ? quote(text) : text;
}

function listText(list: CelList, budget: Budget): string | CelError {
  const texts: string[] = [];
  for (let index = 0; index < list.size; index++) {
    const text = partText(list.at(index), budget);
    if (text instanceof CelError) return text;
    texts.push(text);
  }
  return `[${texts.join(', ')}]`;
}

function mapText(map: CelMap, budget: Budget): string | CelError {
  const texts: string[] = [];
  for (const key of map.keys()) {
    const name = partText(key, budget);
    const text = partText(map.get(key) ?? null, budget);
    if (name instanceof CelError) return name;
    if (text instanceof CelError) return text;
    texts.push(`${name}:${text}`);
  }
  return `{${texts.sort().join(', ')}}`;
}
