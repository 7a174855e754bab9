/**
 * Quantities of resources, `100m`, `1.5Gi`, `2e3`: exact decimals down to 10^-9
 * (`k8s.io/apimachinery/pkg/api/resource`). As on the server, smaller fractions are rounded away
 * from zero, and values stop at 2^63 - 1.
 */
export interface Quantity {
  /** In units of 10^-9. */
  readonly nano: bigint;
  /** The notation in which it was written, and is shown. */
  readonly format: 'BinarySI' | 'DecimalSI' | 'DecimalExponent';
}

/** Undefined for an invalid text; the message for it is `QUANTITY_ERROR`. */
export function parseQuantity(text: string): Quantity | undefined {
  const parts = FORM.exec(text);
  if (parts === null) return undefined;
  const [, sign = '', whole = '', fraction = '', suffix = ''] = parts;
  if (whole === '' && fraction === '') return undefined;
  const scale = scaleOf(suffix);
  if (scale === undefined) return undefined;
  const digits = BigInt(`${whole}${fraction}`);
  const exponent = scale.exponent + NANO_DIGITS - fraction.length;
  const magnitude = limited(scaled(digits * scale.factor, exponent));
  return { nano: sign === '-' ? -magnitude : magnitude, format: scale.format };
}

/** The API's message for a text that `parseQuantity` refuses. */
export const QUANTITY_ERROR =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/**
 * The canonical text: no fraction, the largest unit that allows it, an exponent that is a multiple
 * of 3.
 */
export function formatQuantity(quantity: Quantity): string {
  const { nano, format } = quantity;
  const magnitude = nano < 0n ? -nano : nano;
  const sign = nano < 0n ? '-' : '';
  if (nano === 0n) return '0';
  // Small binary quantities, and those with a fraction, are shown as decimal ones.
  const isBinary = format === 'BinarySI' && magnitude >= 1024n * UNIT && magnitude % UNIT === 0n;
  if (isBinary) return sign + formatBinary(magnitude / UNIT);
  return sign + formatDecimal(magnitude, format === 'DecimalExponent');
}

/** Negative, zero or positive, as for `Array.sort`. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  if (a.nano === b.nano) return 0;
  return a.nano < b.nano ? -1 : 1;
}

/** The sum, in the format of the first of the two that is not zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nano: a.nano + b.nano, format: a.nano === 0n ? b.format : a.format };
}

export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return addQuantities(a, { nano: -b.nano, format: b.format });
}

/** Rounds up to a whole number: 1 for `100m`. */
export function wholeUnits(quantity: Quantity): bigint {
  return ceilDivide(quantity.nano, UNIT);
}

export function quantityOf(units: bigint | number, format: Quantity['format']): Quantity {
  return { nano: BigInt(units) * UNIT, format };
}

const FORM = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?$/;

const NANO_DIGITS = 9;
const UNIT = 10n ** BigInt(NANO_DIGITS);
const LARGEST = (2n ** 63n - 1n) * UNIT;

const DECIMAL_SUFFIXES: readonly string[] = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
/** Index of the suffix of 10^0. */
const PLAIN_SUFFIX = 3;
const BINARY_SUFFIXES: readonly string[] = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

function scaleOf(
  suffix: string,
): { factor: bigint; exponent: number; format: Quantity['format'] } | undefined {
  const binary = BINARY_SUFFIXES.indexOf(suffix);
  if (binary > 0) return { factor: 1024n ** BigInt(binary), exponent: 0, format: 'BinarySI' };
  const decimal = DECIMAL_SUFFIXES.indexOf(suffix);
  if (decimal >= 0) {
    return { factor: 1n, exponent: 3 * (decimal - PLAIN_SUFFIX), format: 'DecimalSI' };
  }
  const exponent = Number(suffix.slice(1));
  return Math.abs(exponent) < 2 ** 31
    ? { factor: 1n, exponent, format: 'DecimalExponent' }
    : undefined;
}

/** `value * 10^exponent`, rounded up. Extreme exponents are not computed. */
function scaled(value: bigint, exponent: number): bigint {
  if (value === 0n) return 0n;
  if (exponent >= 0) return exponent > MAX_EXPONENT ? LARGEST : value * 10n ** BigInt(exponent);
  const digits = value.toString().length;
  return -exponent > digits ? 1n : ceilDivide(value, 10n ** BigInt(-exponent));
}

/** 10^28 nano-units are more than the largest quantity. */
const MAX_EXPONENT = 28;

function limited(value: bigint): bigint {
  return value > LARGEST ? LARGEST : value;
}

function ceilDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value > 0n && quotient * by !== value ? quotient + 1n : quotient;
}

function formatBinary(units: bigint): string {
  let value = units;
  let suffix = 0;
  while (value % 1024n === 0n && suffix < BINARY_SUFFIXES.length - 1) {
    value /= 1024n;
    suffix++;
  }
  return `${value}${BINARY_SUFFIXES[suffix] ?? ''}`;
}

function formatDecimal(nano: bigint, asExponent: boolean): string {
  let value = nano;
  let suffix = 0;
  while (value % 1_000n === 0n && (asExponent || suffix < DECIMAL_SUFFIXES.length - 1)) {
    value /= 1_000n;
    suffix++;
  }
  const exponent = 3 * (suffix - PLAIN_SUFFIX);
  if (!asExponent) return `${value}${DECIMAL_SUFFIXES[suffix] ?? ''}`;
  return exponent === 0 ? `${value}` : `${value}e${exponent}`;
}
