/**
 * Types of settings: the form of a value in the Configuration file, as a flag, and in the program.
 */

import { parseDuration } from '@lockstep/kube/duration.ts';
import { invalidValue, notSupported } from '@lockstep/kube/field-error.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
} from '@lockstep/kube/name-rules.ts';
import { parseQuantity, QUANTITY_ERROR } from '@lockstep/kube/quantity.ts';
import { quote } from '@lockstep/kube/quote.ts';
import {
  boolean,
  int32,
  list,
  map,
  number,
  oneOf,
  string,
} from '@lockstep/kube/schema/builders.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { DEFAULT_FEATURE_GATES, type FeatureGates } from '../../jobset/feature-gates.ts';
import { ANY_ADDRESS, type BindAddress, parseBindAddress } from './bind-address.ts';
import { CIPHER_SUITE_NAMES } from './tls-settings.ts';

/** `Raw` is the value in a file. */
export interface SettingType<Raw = unknown, Value = unknown> {
  /** The values that a file may have. */
  readonly schema: JsonSchema;
  /** In words: `expected ...`. */
  readonly expected: string;
  /** Stands for the value in the help of a flag; absent: the flag has no value. */
  readonly placeholder?: string;
  /** The syntax of a flag's value, for its help. */
  readonly syntax?: string;
  /** All values, where they are few. */
  readonly choices?: readonly string[];
  /** Errors of a value that the schema accepts. */
  errors(raw: Raw, path: string): readonly FieldError[];
  /** Whether the value counts as absent, as zero values do in Go. */
  isAbsent(raw: Raw): boolean;
  read(raw: Raw): Value;
  /** The value of a flag. `before`: its default, or the value of an earlier flag of this name. */
  fromText(text: string, before?: Value): Raw | Problem;
}

/** One setting of the file. Names in the table are names of flags. */
export interface Setting {
  /** The keys on the way to the value in the file. */
  readonly path: string;
  readonly type: SettingType;
  /** The default, as in a file. Absent: there is none. */
  readonly default?: unknown;
  /** The default in words, if it is no single value. */
  readonly defaultInWords?: string;
  /** What the setting does, or what its value is. */
  readonly help: string;
  /** The section of the documentation about it, as the target of a link. */
  readonly see?: string;
  /** Whether the key is Lockstep's own, and none of upstream's. */
  readonly own?: boolean;
  /** The flag of `lockstep-operator`. */
  readonly flag?: string;
  /** The value without a file and a flag; absent: the default. */
  readonly withoutFile?: unknown;
  /** The help of the flag that negates it. */
  readonly negated?: string;
  /** Whether `lockstep install` has the flag too. */
  readonly install?: boolean;
  /** The value of the Helm chart; absent: the path below `configuration`. */
  readonly helm?: string;
}

/** The problem of a flag's text. */
export class Problem {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A flag without a value: its name says `true` or `false`. */
export function yesOrNo(): SettingType<boolean, boolean> {
  return plain(boolean(), 'true or false', {});
}

/** The largest number in a file. */
const MAX_INT32 = 2_147_483_647;

/** A file may have any integer; a flag takes none below 1. */
export function wholeNumber(most: number = MAX_INT32): SettingType<number, number> {
  const bounds = most === MAX_INT32 ? {} : { minimum: 1, maximum: most };
  const expected = `a whole number from 1 to ${most}`;
  return plain({ ...int32(), ...bounds }, expected, {
    placeholder: 'n',
    syntax: expected,
    fromText: (text) => {
      const value = Number(text);
      const isRight = /^[0-9]+$/.test(text) && value >= 1 && value <= most;
      return isRight ? value : new Problem(`expected ${expected}`);
    },
  });
}

/** Requests per second. */
export function rate(): SettingType<number, number> {
  const why = 'must be greater than 0, or negative for no limit';
  return plain(number(), 'a number other than 0', {
    placeholder: 'n',
    errors: (value, path) => (value === 0 ? [invalidValue(path, value, why)] : []),
    fromText: (text) => {
      const value = Number(text);
      const isRight = /^-?[0-9]+(?:\.[0-9]+)?$/.test(text) && value !== 0;
      return isRight && Number.isFinite(value)
        ? value
        : new Problem('expected a number other than 0');
    },
  });
}

export function choice<const T extends string>(
  choices: readonly T[],
  placeholder: string,
): SettingType<T, T> {
  return plain(oneOf(choices), inWords(choices), { placeholder, choices });
}

/** A choice that a file may leave empty. */
export function choiceOrEmpty<const T extends string>(
  choices: readonly T[],
): SettingType<T | '', T> {
  return {
    ...plain<T>(oneOf([...choices, '']), inWords(choices), {}),
    isAbsent: (text) => text === '',
    // An empty text is absent, and never read.
    read: (text) => text as T,
    fromText: (text) => text as T,
  };
}

type Rules = (text: string) => readonly string[];

/** A text that keeps the rules; `expected` in words. */
export function text(
  expected: string,
  placeholder: string,
  rules: Rules = () => [],
): SettingType<string, string> {
  return plain(string(), expected, {
    placeholder,
    isAbsent: (value) => value === '',
    errors: (value, path) => rules(value).map((why) => invalidValue(path, value, why)),
    fromText: (value) => {
      if (value === '') return new Problem('expected a text that is not empty');
      const [problem] = rules(value);
      return problem === undefined ? value : new Problem(`expected ${expected}: ${problem}`);
    },
  });
}

/** Any text in a file; a flag takes none with spaces. */
export function imageName(): SettingType<string, string> {
  const expected = 'the name of an image';
  return {
    ...text(expected, 'image'),
    fromText: (value) =>
      /^\S+$/.test(value)
        ? value
        : new Problem(`expected ${expected} that is not empty and has no spaces`),
  };
}

export function namespace(): SettingType<string, string> {
  return text('a namespace', 'name', dns1123LabelErrors);
}

export function service(): SettingType<string, string> {
  return text('a Service', 'name', dns1035LabelErrors);
}

export function secret(): SettingType<string, string> {
  return text('a Secret', 'name', dns1123SubdomainErrors);
}

export function lease(): SettingType<string, string> {
  return text('a Lease', 'name', dns1123SubdomainErrors);
}

export function pathSegment(): SettingType<string, string> {
  const expected = 'one segment of a path, without a slash';
  return text(expected, 'name', (name) =>
    /^[A-Za-z0-9._-]+$/.test(name) ? [] : [`must be ${expected}`],
  );
}

export function host(): SettingType<string, string> {
  const expected = 'an address or a host name, without a port';
  const type = text(expected, 'host', (name) => {
    const address = name.includes(':') ? `[${name}]:1` : `${name}:1`;
    return parseBindAddress(address) === undefined ? [`must be ${expected}`] : [];
  });
  return { ...type, read: (name) => name || ANY_ADDRESS };
}

export function address(): SettingType<string, BindAddress | 'off'> {
  const expected = 'host:port, :port or 0';
  const isRight = (value: string): boolean => parseBindAddress(value) !== undefined;
  return {
    ...text(expected, 'address', (value) => (isRight(value) ? [] : [`expected ${expected}`])),
    syntax: expected,
    read: (value) => parseBindAddress(value) ?? 'off',
    fromText: (value) => (isRight(value) ? value : new Problem(`expected ${expected}`)),
  };
}

/** Its value is in milliseconds. 0 counts as absent. */
export function duration(): SettingType<string, number> {
  const expected = 'a duration such as 15s';
  const isRight = (value: string): boolean => (parseDuration(value) ?? -1) >= 0;
  return {
    ...text(expected, 'duration'),
    errors: (value, path) =>
      isRight(value) ? [] : [invalidValue(path, value, `must be ${expected}`)],
    isAbsent: (value) => parseDuration(value) === 0,
    read: (value) => parseDuration(value) ?? 0,
    fromText: (value) => (isRight(value) ? value : new Problem(`expected ${expected}`)),
  };
}

/** IANA names of cipher suites. */
export function cipherSuites(): SettingType<readonly string[], readonly string[]> {
  return plain(list(string()), 'IANA names of cipher suites', {
    errors: (suites, path) =>
      suites.flatMap((suite, i) =>
        CIPHER_SUITE_NAMES.includes(suite)
          ? []
          : [notSupported(`${path}[${i}]`, suite, CIPHER_SUITE_NAMES)],
      ),
  });
}

export const GATES: readonly string[] = Object.keys(DEFAULT_FEATURE_GATES);
/** Upstream's gates with a fixed value: servers here always obey `tls`. */
const LOCKED_GATES: Readonly<Record<string, boolean>> = { TLSOptions: true };

type Gates = Readonly<Record<string, boolean>>;

/** Features by name; those that are not named are on. */
export function gates(): SettingType<Gates, FeatureGates> {
  return {
    ...plain<Gates>(map(boolean()), 'true or false by feature', {
      placeholder: 'gates',
      syntax: 'name=true or name=false, separated by commas',
      errors: (given, path) =>
        Object.entries(given).flatMap(([name, value]) => gateErrors(name, value, path)),
    }),
    read: (given) => {
      const own = Object.entries(given).filter(([name]) => GATES.includes(name));
      return { ...DEFAULT_FEATURE_GATES, ...Object.fromEntries(own) };
    },
    fromText: (value, before) => gatesFromText(value, { ...before }),
  };
}

function gateErrors(name: string, value: boolean, path: string): readonly FieldError[] {
  const known = [...GATES, ...Object.keys(LOCKED_GATES)];
  if (!known.includes(name)) return [notSupported(path, name, known)];
  const locked = Object.hasOwn(LOCKED_GATES, name) ? LOCKED_GATES[name] : value;
  if (locked === value) return [];
  return [invalidValue(`${path}.${name}`, value, `is locked to ${String(locked)}`)];
}

function gatesFromText(value: string, before: Gates): Gates | Problem {
  const chosen: Record<string, boolean> = { ...before };
  for (const part of value.split(',')) {
    const [name = '', state, ...more] = part.split('=').map((one) => one.trim());
    if (!GATES.includes(name)) {
      return new Problem(`unknown feature gate ${quote(name)}, allowed are ${GATES.join(', ')}`);
    }
    if ((state !== 'true' && state !== 'false') || more.length > 0)
      return new Problem(`expected ${name}=true or ${name}=false`);
    chosen[name] = state === 'true';
  }
  return chosen;
}

/** Amounts by name of the resource. */
export function quantities(): SettingType<StringMap, StringMap> {
  return plain(map(string()), 'quantities by resource', {
    errors: (amounts, path) =>
      Object.entries(amounts).flatMap(([name, amount]) =>
        parseQuantity(amount) === undefined
          ? [invalidValue(`${path}[${name}]`, amount, QUANTITY_ERROR)]
          : [],
      ),
  });
}

/** A type whose values are the same in the file and in the program. */
function plain<T>(
  schema: JsonSchema,
  expected: string,
  more: Partial<SettingType<T, T>>,
): SettingType<T, T> {
  return {
    schema,
    expected,
    errors: () => [],
    isAbsent: () => false,
    read: (value) => value,
    // For choices, which the reader of flags compares, and for settings without a flag.
    fromText: (value) => value as T,
    ...more,
  };
}

/** `a, b or c`. */
function inWords(choices: readonly string[]): string {
  return choices.join(', ').replace(/, ([^,]*)$/, ' or $1');
}
