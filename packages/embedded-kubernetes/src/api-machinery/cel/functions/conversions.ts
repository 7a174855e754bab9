/** `int("3")`, `string(1.5)`, `type(x)`: from one type to another. */
import { durationText, parseDuration, SECOND } from '../duration.ts';
import { CHARACTER_COST } from '../limits.ts';
import {
  ANY,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  INT,
  LIST,
  MAP,
  type Overload,
  overload,
  type Parameter,
  STRING,
  TIMESTAMP,
  UINT,
} from '../overload.ts';
import { parseTimestamp, timestampOf, timestampText } from '../timestamp.ts';
import { type CelType, TYPE_TYPE } from '../type.ts';
import {
  CelError,
  type CelResult,
  type CelValue,
  sizeOf,
  TypeValue,
  typeNameOf,
} from '../value.ts';
import { int, uint } from './operators.ts';

/** Reading or copying a text once. */
const PASS = { cost: ([size = 0]: readonly number[]) => 1 + size * CHARACTER_COST };

function conversion<T extends CelValue>(
  name: string,
  from: Parameter<T>,
  to: CelType,
  apply: (value: T) => CelResult,
): Overload {
  return overload(name, [from], to, ([value]) => apply(value), PASS);
}

const NUMERIC: readonly Overload[] = [
  conversion('int', INT, INT.type, (value) => value),
  conversion('int', UINT, INT.type, ({ value }) => int(value)),
  conversion('int', DOUBLE, INT.type, (value) => fromDouble(value, int, 'integer overflow')),
  conversion('int', STRING, INT.type, (text) => wholeNumber(text, int, 'int')),
  conversion('int', TIMESTAMP, INT.type, ({ nanoseconds }) => floorSeconds(nanoseconds)),
  conversion('int', DURATION, INT.type, ({ nanoseconds }) => nanoseconds),
  conversion('uint', UINT, UINT.type, (value) => value),
  conversion('uint', INT, UINT.type, uint),
  conversion('uint', DOUBLE, UINT.type, (value) =>
    fromDouble(value, uint, 'unsigned integer overflow'),
  ),
  conversion('uint', STRING, UINT.type, (text) => wholeNumber(text, uint, 'uint')),
  conversion('double', DOUBLE, DOUBLE.type, (value) => value),
  conversion('double', INT, DOUBLE.type, Number),
  conversion('double', UINT, DOUBLE.type, ({ value }) => Number(value)),
  conversion('double', STRING, DOUBLE.type, toDouble),
];

const TEXTUAL: readonly Overload[] = [
  conversion('string', STRING, STRING.type, (text) => text),
  conversion('string', BOOL, STRING.type, String),
  conversion('string', INT, STRING.type, String),
  conversion('string', UINT, STRING.type, ({ value }) => String(value)),
  conversion('string', DOUBLE, STRING.type, doubleText),
  conversion('string', BYTES, STRING.type, textOf),
  conversion('string', TIMESTAMP, STRING.type, timestampText),
  conversion('string', DURATION, STRING.type, durationText),
  conversion('bytes', BYTES, BYTES.type, (bytes) => bytes),
  conversion('bytes', STRING, BYTES.type, (text) => new TextEncoder().encode(text)),
  conversion('bool', BOOL, BOOL.type, (value) => value),
  conversion('bool', STRING, BOOL.type, toBool),
];

const TEMPORAL: readonly Overload[] = [
  conversion('timestamp', TIMESTAMP, TIMESTAMP.type, (time) => time),
  conversion('timestamp', INT, TIMESTAMP.type, (seconds) => timestampOf(seconds * SECOND)),
  conversion(
    'timestamp',
    STRING,
    TIMESTAMP.type,
    (text) => parseTimestamp(text) ?? notConvertible('google.protobuf.Timestamp'),
  ),
  conversion('duration', DURATION, DURATION.type, (duration) => duration),
  conversion(
    'duration',
    STRING,
    DURATION.type,
    (text) => parseDuration(text) ?? notConvertible('google.protobuf.Duration'),
  ),
];

function sizes(): readonly Overload[] {
  const measured: readonly Parameter<CelValue>[] = [STRING, BYTES, LIST, MAP];
  return measured.flatMap((of) =>
    ['size', '.size'].map((name) =>
      overload(name, [of], INT.type, ([value]) => BigInt(lengthOf(value)), {
        resultSize: () => 1,
      }),
    ),
  );
}

/** Counts characters of texts in code points. */
function lengthOf(value: CelValue): number {
  return typeof value === 'string' ? characterCount(value) : sizeOf(value);
}

export function characterCount(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(at + 1);
    if (next < 0xdc00 || next > 0xdfff) continue;
    count--;
    at++;
  }
  return count;
}

export const CONVERSIONS: readonly Overload[] = [
  ...NUMERIC,
  ...TEXTUAL,
  ...TEMPORAL,
  ...sizes(),
  overload('type', [ANY], TYPE_TYPE, ([value]) => new TypeValue(typeNameOf(value))),
];

/** Formats like Go's `%g`: with an exponent below 10^-4 and from 10^6 on. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (value === 0 || (power >= -4 && power < 6)) return Object.is(value, -0) ? '-0' : String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

function fromDouble(
  value: number,
  make: (value: bigint) => CelResult,
  overflow: string,
): CelResult {
  return Number.isFinite(value) ? make(BigInt(Math.trunc(value))) : new CelError(overflow);
}

/** Texts with more digits are out of range anyway. */
const MAX_DIGITS = 25;

function wholeNumber(
  text: string,
  make: (value: bigint) => CelResult,
  type: 'int' | 'uint',
): CelResult {
  const isNumber = type === 'int' ? /^[+-]?\d+$/.test(text) : /^\d+$/.test(text);
  const digits = text.replace(/^\+/, '').replace(/^(-?)0+(?=\d)/, '$1');
  if (!isNumber || digits.length > MAX_DIGITS) return notConvertible(type);
  const value = make(BigInt(digits));
  return value instanceof CelError ? notConvertible(type) : value;
}

const DOUBLE_TEXT = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)$/i;

function toDouble(text: string): CelResult {
  if (!DOUBLE_TEXT.test(text)) return notConvertible('double');
  if (/nan$/i.test(text)) return Number.NaN;
  if (/inf/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  return Number(text);
}

const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

function toBool(text: string): CelResult {
  if (TRUE.has(text)) return true;
  if (FALSE.has(text)) return false;
  return notConvertible('bool');
}

function textOf(bytes: Uint8Array): CelResult {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError)
      return new CelError('invalid UTF-8 in bytes, cannot convert to string');
    throw error;
  }
}

function floorSeconds(nanoseconds: bigint): bigint {
  const rest = ((nanoseconds % SECOND) + SECOND) % SECOND;
  return (nanoseconds - rest) / SECOND;
}

/** The error for a text that cannot be converted. */
function notConvertible(to: string): CelError {
  return new CelError(`type conversion error from 'string' to '${to}'`);
}
