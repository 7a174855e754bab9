/** Turns the JSON that a client sent into a valid object of a resource. */
import { assert } from '@lockstep/kube/assert.ts';
import {
  formatFieldErrors,
  invalid,
  invalidValue,
  notSupported,
} from '@lockstep/kube/field-error.ts';
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { ObjectMeta } from '@lockstep/kube/meta.ts';
import { quote } from '@lockstep/kube/quote.ts';
import { apiVersionOf } from '@lockstep/kube/resource.ts';
import { applyDefaults } from '@lockstep/kube/schema/defaults.ts';
import { prune } from '@lockstep/kube/schema/prune.ts';
import { validate } from '@lockstep/kube/schema/validate.ts';
import type { ApiStatusError } from '@lockstep/kube/status.ts';
import { badRequest } from '@lockstep/kube/status-errors.ts';
import { type ApiObject, textAt, withMembers } from '../resources/api-object.ts';
import type { ReceivedKind } from '../resources/served-resource.ts';
import { wrongKind } from './request-body.ts';

/** What happens to unknown fields and duplicate members. */
export type FieldValidation = 'Ignore' | 'Strict' | 'Warn';

export function fieldValidation(query: URLSearchParams, options: string): FieldValidation {
  const value = query.get('fieldValidation') ?? '';
  switch (value) {
    case '':
      return 'Warn';
    case 'Ignore':
    case 'Strict':
    case 'Warn':
      return value;
    default:
      throw invalid({ group: 'meta.k8s.io', kind: options }, '', [
        notSupported('fieldValidation', value, ['', 'Ignore', 'Strict', 'Warn']),
      ]);
  }
}

/**
 * Checks the kind, drops and names unknown fields, checks types, fills in defaults, and removes
 * nulls and empty metadata.
 */
export function receive(
  of: ReceivedKind,
  body: { readonly object: JsonObject; readonly duplicates: readonly string[] },
  unknownFields: FieldValidation,
  { warn, refusal = (why) => wrongKind(of, of.kind, of.version, why) }: ReceiveReactions,
): ApiObject {
  const identified = identify(of, body.object);
  const { value, pruned } = prune(of.schema, identified);
  const complaints = complaintsOf(of, body.duplicates, pruned);
  if (unknownFields === 'Strict' && complaints.length > 0) {
    throw refusal(`strict decoding error: ${complaints.join(', ')}`);
  }
  if (unknownFields === 'Warn') complaints.forEach(warn);
  const complete = applyDefaults(of.schema, value);
  assert(isJsonObject(complete), 'an object with its defaults is an object');
  const mistyped = validate(of.schema, complete).filter(
    ({ type, field }) => type === 'FieldValueTypeInvalid' && (!of.custom || isMetadata(field)),
  );
  if (mistyped.length > 0) throw refusal(formatFieldErrors(mistyped));
  const metadata = isJsonObject(complete['metadata']) ? complete['metadata'] : {};
  return {
    apiVersion: apiVersionOf(of),
    kind: of.kind,
    ...withMembers(complete, { apiVersion: undefined, kind: undefined }),
    metadata: tidyMetadata(metadata),
  };
}

export interface ReceiveReactions {
  readonly warn: (warning: string) => void;
  /** The error for a body that is not a readable object of the kind. */
  readonly refusal?: (why: string) => ApiStatusError;
}

/**
 * For built-in kinds unknown fields are reported in the order of the text, each once; for custom
 * resources they are sorted.
 */
function complaintsOf(
  of: ReceivedKind,
  duplicates: readonly string[],
  unknown: readonly string[],
): readonly string[] {
  const told = of.custom ? duplicates : duplicates.filter((path) => !unknown.includes(path));
  return [
    ...told.map((path) => `duplicate field ${quote(path)}`),
    ...(of.custom ? unknown.toSorted() : unknown).map((path) => `unknown field ${quote(path)}`),
  ];
}

/** Sets kind and version, from the object itself or from its path. */
function identify(of: ReceivedKind, object: JsonObject): JsonObject {
  const { kind = '', apiVersion = '' } = object;
  const expected = apiVersionOf(of);
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') {
    const why = 'apiVersion and kind must be strings';
    throw wrongKind(of, String(kind), String(apiVersion), why);
  }
  if (of.custom) {
    identifyCustom(of, object, { kind, apiVersion, expected });
  } else if ((kind !== '' && kind !== of.kind) || (apiVersion !== '' && apiVersion !== expected)) {
    const why = `expected kind ${quote(of.kind)} of version ${quote(expected)}`;
    throw wrongKind(of, kind || of.kind, apiVersion || expected, why);
  }
  return { apiVersion: expected, kind: of.kind, ...object };
}

/** Custom resources must name their kind and version. */
function identifyCustom(
  of: ReceivedKind,
  object: JsonObject,
  given: { readonly kind: string; readonly apiVersion: string; readonly expected: string },
): void {
  const { kind, apiVersion, expected } = given;
  if (kind === '') {
    const text = JSON.stringify(object).slice(0, MAX_SHOWN_CHARACTERS);
    const why = `Object 'Kind' is missing in '${text}'`;
    throw badRequest(`the object provided is unrecognized (must be of type ${of.kind}): ${why}`);
  }
  if (apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  if (kind !== of.kind) {
    const problem = invalidValue('kind', kind, `must be ${of.kind}`);
    throw invalid({ group: of.group, kind }, textAt(object, 'metadata', 'name'), [problem]);
  }
}

/** How much of an object without a kind is shown. */
const MAX_SHOWN_CHARACTERS = 200;

function isMetadata(field: string): boolean {
  return field === 'metadata' || field.startsWith('metadata.');
}

/**
 * Metadata as Go writes it: without empty members, and without those that this server does not
 * keep. An empty list of managers differs from none: it asks to drop them.
 */
function tidyMetadata(metadata: JsonObject): ObjectMeta {
  const tidy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(metadata)) {
    const isTold = name === 'managedFields' && Array.isArray(value);
    if (name === 'selfLink' || (isEmpty(value) && !isTold)) continue;
    tidy[name] = value;
  }
  return tidy;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
