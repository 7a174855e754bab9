/** `'%s has %d'.format([a, b])`, with the verbs of `cel-go/ext/strings`. */
import { type Budget, COST_EXCEEDED } from '../budget.ts';
import { durationText } from '../duration.ts';
import { CHARACTER_COST } from '../limits.ts';
import { timestampText } from '../timestamp.ts';
import {
  CelError,
  CelList,
  CelMap,
  type CelValue,
  Duration,
  type Outcome,
  Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
} from '../value.ts';
import { doubleText } from './conversions.ts';

/** The pattern with its verbs replaced by the items of `list`, one after the other. */
export function formatText(pattern: string, list: CelList, budget: Budget): Outcome {
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
  const digits = Math.min(Number(precision ?? DEFAULT_PRECISION), MAX_PRECISION);
  switch (verb) {
    case 's':
      return plainText(value, budget);
    case 'd':
      return wholeText(value, 10, 'decimal');
    case 'b':
      return typeof value === 'boolean' ? String(Number(value)) : wholeText(value, 2, 'binary');
    case 'o':
      return wholeText(value, 8, 'octal');
    case 'x':
    case 'X':
      return hexText(value, verb === 'X');
    case 'f':
    case 'e':
      return fixedText(value, verb, digits);
    default:
      return new CelError(`unrecognized formatting clause "${verb}"`);
  }
}

function mismatch(verb: string, value: CelValue): CelError {
  return new CelError(
    `${verb} clause can only be used on other types, was given ${typeNameOf(value)}`,
  );
}

function wholeText(value: CelValue, base: number, verb: string): string | CelError {
  if (typeof value === 'bigint') return value.toString(base);
  if (value instanceof Uint) return value.value.toString(base);
  return typeof value === 'number' && base === 10 && !Number.isFinite(value)
    ? doubleText(value)
    : mismatch(verb, value);
}

function hexText(value: CelValue, isUpper: boolean): string | CelError {
  const text =
    typeof value === 'string' || value instanceof Uint8Array
      ? Buffer.from(value).toString('hex')
      : wholeText(value, 16, 'hexadecimal');
  return typeof text === 'string' && isUpper ? text.toUpperCase() : text;
}

function fixedText(value: CelValue, verb: 'f' | 'e', digits: number): string | CelError {
  const raw = value instanceof Uint ? value.value : value;
  if (typeof raw !== 'number' && typeof raw !== 'bigint') return mismatch('fixed-point', value);
  const number = Number(raw);
  if (!Number.isFinite(number)) return doubleText(number);
  if (verb === 'f') return number.toFixed(digits);
  return number.toExponential(digits).replace(/e([+-])(\d)$/, 'e$10$2');
}

/** As `%s` shows a value; parts of lists and maps are paid for one by one. */
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
  return mismatch('string', value);
}

function listText(list: CelList, budget: Budget): string | CelError {
  const texts: string[] = [];
  for (let index = 0; index < list.size; index++) {
    const item = list.at(index);
    const text = item instanceof CelError ? item : plainText(item, budget);
    if (text instanceof CelError) return text;
    texts.push(text);
  }
  return `[${texts.join(', ')}]`;
}

function mapText({ content }: CelMap, budget: Budget): string | CelError {
  const texts: string[] = [];
  for (const key of content.keys()) {
    const name = plainText(key, budget);
    const value = content.get(key) ?? null;
    const text = value instanceof CelError ? value : plainText(value, budget);
    if (name instanceof CelError) return name;
    if (text instanceof CelError) return text;
    texts.push(`${name}: ${text}`);
  }
  return `{${texts.sort().join(', ')}}`;
}
