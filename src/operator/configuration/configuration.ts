/**
 * Reads a `Configuration` file as strictly as upstream's controller does. Unknown, duplicate and
 * wrong keys are errors with their path, reported together. A missing key has the API's default.
 */

import { formatFieldError, invalidValue } from '@lockstep/kube/field-error.ts';
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { prune } from '@lockstep/kube/schema/prune.ts';
import { validate } from '@lockstep/kube/schema/validate.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { parseDocument } from 'yaml';
import { CONFIGURATION_SCHEMA } from './configuration-schema.ts';
import {
  ALL_SETTINGS,
  type ConfigurationSettings,
  type GivenSettings,
  operatorSettings,
  settingValues,
} from './setting-values.ts';
import { SETTINGS } from './settings.ts';

/** Lines for the user, each with the path of its key. */
interface Problems {
  readonly problems: readonly string[];
}

export function parseConfiguration(
  text: string,
): { readonly settings: ConfigurationSettings } | Problems {
  const read = readConfiguration(text);
  return 'problems' in read ? read : { settings: operatorSettings(read.given) };
}

/** The settings in a file, without defaults. */
export function readConfiguration(text: string): { readonly given: GivenSettings } | Problems {
  const document = parseDocument(text, { logLevel: 'error' });
  if (document.errors.length > 0) {
    return { problems: document.errors.map(({ message }) => message.trimEnd()) };
  }
  // A null counts as absent, as in Go.
  const reviver = (_key: unknown, member: unknown): unknown => member ?? undefined;
  let value: unknown;
  try {
    value = document.toJS({ reviver }) ?? {};
  } catch (error) {
    // An alias without its anchor, or aliases of aliases that would never end.
    return { problems: [error instanceof Error ? error.message : String(error)] };
  }
  if (!isJsonObject(value)) return { problems: ['expected a map'] };
  const { value: known, pruned } = prune(CONFIGURATION_SCHEMA, value);
  const shapeErrors = validate(CONFIGURATION_SCHEMA, known);
  const unknown = pruned.map((path) => `unknown key ${path}`);
  if (shapeErrors.length > 0) return { problems: [...unknown, ...shapeErrors.map(told)] };
  const given = givenIn(known as JsonObject);
  const problems = [...unknown, ...contentErrors(given).map(told)];
  return problems.length > 0 ? { problems } : { given };
}

function givenIn(file: JsonObject): GivenSettings {
  const found = ALL_SETTINGS.flatMap(([name, { path, type }]) => {
    const value = path.split('.').reduce(below, file);
    return value === undefined || type.isAbsent(value) ? [] : [[name, value] as const];
  });
  // The schema has just been checked.
  return Object.fromEntries(found) as GivenSettings;
}

function below(at: unknown, step: string): unknown {
  return isJsonObject(at) && Object.hasOwn(at, step) ? at[step] : undefined;
}

function contentErrors(given: GivenSettings): readonly FieldError[] {
  const errors = ALL_SETTINGS.flatMap(([name, { path, type }]) => {
    const value = given[name];
    return value === undefined || isUnused(path, given) ? [] : type.errors(value, path);
  });
  return [...errors, ...errorsTogether(given, errors)];
}

/** If the operator makes no certificates, the rest of that section has no effect. */
function isUnused(path: string, { makesCertificates = true }: GivenSettings): boolean {
  return path.startsWith('internalCertManagement.') && !makesCertificates;
}

/** Errors of values that exclude each other. */
function errorsTogether(
  given: GivenSettings,
  before: readonly FieldError[],
): readonly FieldError[] {
  const { kubeApiBurst, tlsMinVersion, tlsCipherSuites = [] } = given;
  const { leaseDuration, renewDeadline, retryPeriod, kubeApiQps } = settingValues(given);
  const wrong = (name: keyof GivenSettings, value: unknown, why: string) =>
    before.some(({ field }) => field === SETTINGS[name].path)
      ? []
      : [invalidValue(SETTINGS[name].path, value, why)];
  return [
    ...(leaseDuration > renewDeadline
      ? []
      : wrong('leaseDuration', `${leaseDuration}ms`, 'must exceed renewDeadline')),
    ...(renewDeadline > retryPeriod
      ? []
      : wrong('renewDeadline', `${renewDeadline}ms`, 'must exceed retryPeriod')),
    ...(kubeApiBurst !== undefined && kubeApiBurst <= 0 && kubeApiQps > 0
      ? wrong('kubeApiBurst', kubeApiBurst, 'must be greater than 0')
      : []),
    ...(tlsMinVersion === 'VersionTLS13' && tlsCipherSuites.length > 0
      ? wrong(
          'tlsCipherSuites',
          tlsCipherSuites,
          'must be empty with VersionTLS13, which has no choice of suites',
        )
      : []),
  ];
}

function told(error: FieldError): string {
  return formatFieldError(error);
}
