/**
 * Parses values of the operator's flags. Each reader returns the value, or what was expected.
 */

import { dns1123LabelErrors } from '@lockstep/kube/name-rules.ts';
import { InvalidArgumentError, Option } from 'commander';
import { Problem, type Setting, type SettingType } from './setting-types.ts';

export function httpsUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' || text.replace(/\/$/, '') !== url.origin) {
    throw new InvalidArgumentError('expected https://HOST or https://HOST:PORT.');
  }
  return url.origin;
}

/** The flag of a setting, and the one that says no. */
export function optionsOf({ flag, negated, ...setting }: Setting): readonly Option[] {
  if (flag === undefined) return [];
  const option = optionOf({ flag, ...setting });
  if (negated === undefined) return [option];
  return [option, new Option(flag.replace('--', '--no-'), negated)];
}

export function optionOf(flag: Omit<Setting, 'path'> & { readonly flag: string }): Option {
  const { type } = flag;
  const initial = 'withoutFile' in flag ? flag.withoutFile : flag.default;
  const syntax = type.syntax === undefined ? '' : ` (${type.syntax})`;
  const value = type.placeholder === undefined ? '' : ` <${type.placeholder}>`;
  const option = new Option(`${flag.flag}${value}`, `${flag.help}${syntax}`);
  if (initial !== undefined) option.default(type.read(initial), shown(initial));
  if (type.choices !== undefined) return option.choices(type.choices);
  return value === '' ? option : option.argParser((text, before) => readFlag(type, text, before));
}

function readFlag(type: SettingType, text: string, before: unknown): unknown {
  const raw = type.fromText(text, before);
  if (raw instanceof Problem) throw new InvalidArgumentError(`${raw.text}.`);
  return type.read(raw);
}

/** The default as the help shows it, for a text and for a map. */
function shown(initial: unknown): string | undefined {
  if (typeof initial === 'string') return initial;
  return typeof initial === 'object' ? 'all of them' : undefined;
}

/** Refuses an empty text, which comes from an unset variable of a script. */
export function nonEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('expected a text that is not empty.');
  return text;
}

/** Each namespace is watched by requests of its own. */
export const MAX_NAMESPACES = 64;

/** Names separated by commas. */
export function namespaceNames(text: string): readonly string[] {
  const names = [...new Set(text.split(',').map(namespaceName))];
  if (names.length <= MAX_NAMESPACES) return names;
  throw new InvalidArgumentError(
    `expected at most ${MAX_NAMESPACES} namespaces, not ${names.length}.`,
  );
}

function namespaceName(text: string): string {
  const [problem] = dns1123LabelErrors(text);
  if (problem !== undefined) throw new InvalidArgumentError(`expected a namespace: ${problem}.`);
  return text;
}
