/**
 * Lets kubectl change over from client-side to server-side apply. Its client-side apply remembers
 * in an annotation what it applied. Fields that still match the annotation cause no conflict, and
 * each server-side apply keeps the annotation up to date, so that kubectl can change back.
 */

import { isJsonObject, type JsonObject, ownMember } from '@lockstep/kube/json/json-value.ts';
import { parsedJson } from '@lockstep/kube/json/parsed-json.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { compareFields } from './comparison.ts';
import { configurationErrors } from './configuration-errors.ts';
import { difference, type FieldSet, NO_FIELDS, union } from './field-set.ts';
import { fieldsOf } from './owned-fields.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** The manager under which kubectl applies by default. */
export const KUBECTL = 'kubectl';

/** The fields that still have the values of kubectl's annotation. */
export function fieldsOfLastApplied(live: JsonObject, schema: JsonSchema): FieldSet {
  const text = annotationsOf(live)[LAST_APPLIED];
  const remembered = typeof text === 'string' ? parsedJson(text) : undefined;
  if (!isJsonObject(remembered)) return NO_FIELDS;
  if (remembered['apiVersion'] !== live['apiVersion']) return NO_FIELDS;
  if (configurationErrors(remembered, schema).length > 0) return NO_FIELDS;
  const { modified, added, removed } = compareFields(remembered, live, schema);
  const changed = union(union(modified, added), removed);
  return difference(fieldsOf(remembered, schema), changed);
}

/** The object with the annotation renewed, if it has one. */
export function withLastApplied(object: JsonObject, configuration: JsonObject): JsonObject {
  const annotations = annotationsOf(object);
  const known = annotations[LAST_APPLIED];
  if (typeof known !== 'string' || known === '') return object;
  const text = `${JSON.stringify(sorted(withoutAnnotation(configuration)))}\n`;
  const { metadata } = object;
  return {
    ...object,
    metadata: {
      ...(isJsonObject(metadata) ? metadata : {}),
      annotations: { ...annotations, [LAST_APPLIED]: text },
    },
  };
}

/** The annotation does not contain itself. */
function withoutAnnotation(configuration: JsonObject): JsonObject {
  const { metadata } = configuration;
  const annotations = annotationsOf(configuration);
  if (!isJsonObject(metadata) || ownMember(annotations, LAST_APPLIED) === undefined) {
    return configuration;
  }
  const { [LAST_APPLIED]: _, ...others } = annotations;
  return { ...configuration, metadata: { ...metadata, annotations: others } };
}

function annotationsOf(object: JsonObject): JsonObject {
  const { metadata } = object;
  const annotations = isJsonObject(metadata) ? metadata['annotations'] : undefined;
  return isJsonObject(annotations) ? annotations : {};
}

/** Sorts members by name, as Go writes maps. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).toSorted();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}
