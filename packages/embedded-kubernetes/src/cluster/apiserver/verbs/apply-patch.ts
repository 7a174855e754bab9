/**
 * `PATCH` with `application/apply-patch+yaml`: reads a configuration, and applies it to an object.
 */

import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { quote } from '@lockstep/kube/quote.ts';
import { apiVersionOf } from '@lockstep/kube/resource.ts';
import { failureWithoutReason } from '@lockstep/kube/status.ts';
import { badRequest, conflict, requestEntityTooLarge } from '@lockstep/kube/status-errors.ts';
import { type Document, isMap, isScalar, LineCounter, visit } from 'yaml';
import {
  configurationErrors,
  joinedErrors,
} from '../../../api-machinery/apply/configuration-errors.ts';
import { JsonSyntaxError, type JsonText, readJson } from '../http/json-reader.ts';
import { type FieldValidation, receive } from '../http/receive.ts';
import { goTypeOf, MAX_BODY_BYTES } from '../http/request-body.ts';
import { readYamlText } from '../http/yaml-text.ts';
import {
  type ApiObject,
  objectAt,
  type StoredObject,
  textAt,
  valueAt,
} from '../resources/api-object.ts';
import { checkNamespace } from './create.ts';
import { applied, type ManagedWrite } from './managed-fields.ts';

/** A configuration from a request. */
export interface Configuration {
  readonly object: JsonObject;
  /** Duplicate members: `line 5: key "a" already set in map`. The last one counts. */
  readonly duplicates: readonly string[];
}

/** Throws 400 for a text that is not YAML, or not an object. */
export function readConfiguration(body: Uint8Array | undefined): Configuration {
  const bytes = body ?? new Uint8Array();
  if (bytes.byteLength > MAX_BODY_BYTES) throw requestEntityTooLarge(`limit is ${MAX_BODY_BYTES}`);
  const text = new TextDecoder().decode(bytes);
  const { value, duplicates } = asJson(text) ?? readYaml(text);
  if (value !== null && !isJsonObject(value)) {
    const wanted = 'Go value of type map[string]interface {}';
    const why = `json: cannot unmarshal ${goTypeOf(value)} into ${wanted}`;
    throw undecodable(`error unmarshaling JSON: while decoding JSON: ${why}`);
  }
  return { object: value ?? {}, duplicates };
}

/**
 * Reads JSON, which is YAML but reads much faster; undefined for other texts and for errors that
 * need a line number.
 */
function asJson(text: string): JsonText | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const json = readJson(text);
    return json.duplicates.length === 0 ? json : undefined;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

function readYaml(text: string): JsonText {
  try {
    const lineCounter = new LineCounter();
    const { document, json } = readYamlText(text, { uniqueKeys: false, lineCounter });
    return { value: json.value, duplicates: repeatedKeys(document, lineCounter) };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw undecodable(`error converting YAML to JSON: yaml: ${why}`, cause);
  }
}

function undecodable(why: string, cause?: unknown): Error {
  return badRequest(`error decoding YAML: ${why}`, cause);
}

function repeatedKeys(document: Document, lines: LineCounter): readonly string[] {
  const repeated: string[] = [];
  visit(document, {
    Map: (_, map) => {
      if (!isMap(map)) return;
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          const { line } = lines.linePos(key.range?.[0] ?? 0);
          repeated.push(`line ${line}: key ${quote(String(key.value))} already set in map`);
        }
        seen.add(key.value);
      }
    },
  });
  return repeated;
}

export interface ApplyCall extends ManagedWrite {
  readonly namespace: string | undefined;
  readonly name: string;
  readonly isForced: boolean;
  readonly unknownFields: FieldValidation;
  readonly warn: (warning: string) => void;
}

/** Merges the configuration into the present object. May throw to refuse. */
export function applyTo(
  call: ApplyCall,
  { object: configuration, duplicates }: Configuration,
  present: StoredObject | undefined,
): ApiObject {
  const { of, namespace, isForced, unknownFields, warn } = call;
  checkKind(call, configuration);
  if ((valueAt(configuration, 'metadata', 'managedFields') ?? null) !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const errors = configurationErrors(configuration, of.schema);
  if (errors.length > 0) {
    const what = `${textAt(configuration, 'metadata', 'namespace')}/${textAt(configuration, 'metadata', 'name')}`;
    const kind = `${shownVersion(apiVersionOf(of))}, Kind=${of.kind}`;
    throw failureWithoutReason(
      `failed to create typed patch object (${what}; ${kind}): ${joinedErrors(errors)}`,
    );
  }
  const result = applied(call, configuration, present, isForced);
  if (duplicates.length > 0 && unknownFields === 'Strict') {
    const why = `yaml: unmarshal errors:\n  ${duplicates.join('\n  ')}`;
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${why}`);
  }
  if (unknownFields === 'Warn') duplicates.forEach(warn);
  const object = receive(of, { object: result, duplicates: [] }, 'Ignore', { warn });
  checkNamespace(of, namespace, object);
  return present === undefined ? asNew(call, object) : object;
}

function checkKind({ of }: ApplyCall, configuration: JsonObject): void {
  const { apiVersion = '', kind = '' } = configuration;
  if (apiVersion === apiVersionOf(of) && kind === of.kind) return;
  const shown = `${shownVersion(String(apiVersion))}, Kind=${String(kind)}`;
  throw badRequest(`invalid object type: ${shown}`);
}

/** Go shows the part before the slash, which is empty for the core group. */
function shownVersion(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
}

/** A new object has no version yet, and its name must match the path. */
function asNew({ of, name }: ApplyCall, object: ApiObject): ApiObject {
  const { uid } = object.metadata;
  if (uid !== undefined) {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw conflict(of, name, why);
  }
  const { resourceVersion: _, ...metadata } = objectAt(object, 'metadata');
  return { ...object, metadata };
}
