/** Reads the bodies of requests: JSON, YAML and protocol buffers. */

import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { quote } from '@lockstep/kube/quote.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import type { ApiStatusError } from '@lockstep/kube/status.ts';
import {
  badRequest,
  requestEntityTooLarge,
  unsupportedMediaType,
} from '@lockstep/kube/status-errors.ts';
import { decodeObject, openEnvelope } from '../../../api-machinery/protobuf/decode.ts';
import { messageFields } from '../../../api-machinery/protobuf/message-field.ts';
import { WireError } from '../../../api-machinery/protobuf/wire.ts';
import { OFFERED_TYPES, parseMediaType } from './content-negotiation.ts';
import { JsonSyntaxError, type JsonText, readJson } from './json-reader.ts';
import { readYamlText } from './yaml-text.ts';

/**
 * The body of a request as a value: JSON, unless its content type says YAML or protocol buffer. A
 * protocol buffer needs the schema of its kind, so only built-in kinds take it.
 */
export function readBody(
  body: Uint8Array,
  contentType: string | undefined,
  schema: JsonSchema | undefined,
): JsonText {
  if (body.byteLength > MAX_BODY_BYTES) throw requestEntityTooLarge(`limit is ${MAX_BODY_BYTES}`);
  const isMessage = schema?.title !== undefined && messageFields(schema.title) !== undefined;
  const { type } = parseMediaType(contentType ?? '');
  switch (type) {
    case '':
    case 'application/json':
      return readJson(new TextDecoder().decode(body));
    case 'application/yaml':
      return readYaml(new TextDecoder().decode(body));
    case PROTOBUF:
      if (isMessage) return { value: readMessage(schema, body), duplicates: [] };
      throw unsupportedMediaType(OFFERED_TYPES);
    default:
      throw unsupportedMediaType(isMessage ? [...OFFERED_TYPES, PROTOBUF] : OFFERED_TYPES);
  }
}

const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** Does not read an object of another kind: its name is enough to refuse it. */
function readMessage(schema: JsonSchema, body: Uint8Array): JsonObject {
  const { apiVersion, kind, object } = openEnvelope(body);
  const isExpected = kind === '' || schema.title?.endsWith(`.${kind}`) === true;
  return { apiVersion, kind, ...(isExpected ? decodeObject(schema, object) : {}) };
}

/** The most that an API server reads. A transport may have a stricter limit. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** The body of a request that must hold an object of one kind, and its oddities for warnings. */
export function readObjectBody(
  body: Uint8Array | undefined,
  contentType: string | undefined,
  { kind, schema }: { readonly kind: string; readonly schema: JsonSchema },
): { readonly object: JsonObject; readonly duplicates: readonly string[] } {
  const bytes = body ?? new Uint8Array();
  let text: JsonText;
  try {
    text = readBody(bytes, contentType, schema);
  } catch (error) {
    if (error instanceof WireError) throw unrecognized(kind, error.message, bytes);
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw unrecognized(
      kind,
      `couldn't get version/kind; json parse error: ${error.message}`,
      bytes,
    );
  }
  if (isJsonObject(text.value)) return { object: text.value, duplicates: text.duplicates };
  const why = `couldn't get version/kind; json parse error: json: cannot unmarshal ${goTypeOf(text.value)} into an object`;
  throw unrecognized(kind, why, bytes);
}

/** What Go's decoder calls the type of a JSON value. */
export function goTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function readYaml(text: string): JsonText {
  try {
    return readYamlText(text).json;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new JsonSyntaxError(`error converting YAML to JSON: yaml: ${why}`, { cause });
  }
}

/** How much of an unreadable body is shown. */
const SUMMARY_BYTES = 30;

function unrecognized(kind: string, why: string, body: Uint8Array): ApiStatusError {
  const shown = `${why} (${summary(body)})`;
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${shown}`);
}

function summary(body: Uint8Array): string {
  if (body.byteLength === 0) return '<empty>';
  const head = Buffer.from(body.subarray(0, SUMMARY_BYTES));
  const more = body.byteLength > SUMMARY_BYTES ? ' ...' : '';
  return `${head[0] === 0x7b ? head.toString() : head.toString('hex')}${more}`;
}

/** A `PUT` or `POST` body either names the path's kind or names none; this one names another. */
export function wrongKind(
  expected: { readonly kind: string },
  kind: string,
  apiVersion: string,
  why: string,
): ApiStatusError {
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  return badRequest(
    `${kind} in version ${quote(version)} cannot be handled as a ${expected.kind}: ${why}`,
  );
}
