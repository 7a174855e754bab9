/**
 * Parses values of the operator's flags: each reader returns the value, or says what was expected.
 */
import { InvalidArgumentError, Option } from 'commander';
import { DEFAULT_FEATURE_GATES, type FeatureGates } from '../../jobset/feature-gates.ts';
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
} from '../../kube/name-rules.ts';
import { quote } from '../../kube/quote.ts';
import { ADDRESS_FORM, type BindAddress, parseBindAddress } from './bind-address.ts';

/** Names of all features. */
export const GATES = Object.keys(DEFAULT_FEATURE_GATES);

export function featureGates(text: string, before: FeatureGates): FeatureGates {
  const chosen: Record<string, boolean> = {};
  for (const part of text.split(',')) {
    const [name = '', value, ...more] = part.split('=').map((one) => one.trim());
    if (!Object.hasOwn(DEFAULT_FEATURE_GATES, name)) {
      throw new InvalidArgumentError(
        `unknown feature gate ${quote(name)}, allowed are ${GATES.join(', ')}.`,
      );
    }
    if ((value !== 'true' && value !== 'false') || more.length > 0) {
      throw new InvalidArgumentError(`expected ${name}=true or ${name}=false.`);
    }
    chosen[name] = value === 'true';
  }
  return { ...before, ...chosen };
}

export function httpsUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' || text.replace(/\/$/, '') !== url.origin) {
    throw new InvalidArgumentError('expected https://HOST or https://HOST:PORT.');
  }
  return url.origin;
}

export function serviceName(text: string): string {
  const [problem] = dns1035LabelErrors(text);
  if (problem !== undefined) throw new InvalidArgumentError(`expected a Service: ${problem}.`);
  return text;
}

export function secretName(text: string): string {
  const [problem] = dns1123SubdomainErrors(text);
  if (problem !== undefined) throw new InvalidArgumentError(`expected a Secret: ${problem}.`);
  return text;
}

export function leaseName(text: string): string {
  const [problem] = dns1123SubdomainErrors(text);
  if (problem !== undefined) throw new InvalidArgumentError(`expected a Lease: ${problem}.`);
  return text;
}

export function address(flag: string, description: string): Option {
  return new Option(`${flag} <address>`, `${description}: host:port or :port; 0 serves nothing`)
    .argParser(bindAddress)
    .default('off', '0');
}

function bindAddress(text: string): BindAddress | 'off' {
  const parsed = parseBindAddress(text);
  if (parsed === undefined) throw new InvalidArgumentError(`${ADDRESS_FORM}.`);
  return parsed;
}

export function number(text: string): number {
  const value = Number(text);
  if (!/^-?[0-9]+(?:\.[0-9]+)?$/.test(text) || value === 0 || !Number.isFinite(value)) {
    throw new InvalidArgumentError('expected a number other than 0.');
  }
  return value;
}

/** The largest number in a Configuration file. */
export const MAX_COUNT = 2_147_483_647;

export function countUpTo(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^[0-9]+$/.test(text) || value < 1 || value > most) {
      throw new InvalidArgumentError(`expected a whole number from 1 to ${most}.`);
    }
    return value;
  };
}

/** Refuses an empty text, which an unset variable of a script would leave. */
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

export function namespaceName(text: string): string {
  const [problem] = dns1123LabelErrors(text);
  if (problem !== undefined) throw new InvalidArgumentError(`expected a namespace: ${problem}.`);
  return text;
}
