/** Checks what an admission webhook answered, with the API server's texts. */
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { type JsonPatchOperation, parseJsonPatch } from '@lockstep/kube/patch/json-patch.ts';
import { quote } from '@lockstep/kube/quote.ts';
import { ApiStatusError, type Status } from '@lockstep/kube/status.ts';
import { readJson } from '../http/json-reader.ts';
import { goTypeOf } from '../http/request-body.ts';

/** A webhook's decision, from a valid answer. */
export interface WebhookAnswer {
  /** Undefined if the request may continue. */
  readonly refusal: Partial<Status> | undefined;
  /** Undefined if the object stays as it is. */
  readonly patch: Patch | undefined;
  readonly warnings: readonly string[];
}

export interface Patch {
  /** JSON text, not parsed yet. */
  readonly patch: string;
  readonly patchType: string;
}

/** Thrown for an unreadable patch or an unknown patch type: the call has failed. */
export class UndecodablePatchError extends Error {
  override readonly name = 'UndecodablePatchError';
}

/** Thrown for an answer that is not an AdmissionReview at all. */
export class MistypedAnswerError extends Error {
  override readonly name = 'MistypedAnswerError';
}

/** Thrown for a review that makes no sense: the call has failed. */
export class InvalidAnswerError extends Error {
  override readonly name = 'InvalidAnswerError';
}

/**
 * Checks an answer as the API server does, with its texts. Throws `InvalidAnswerError` and
 * `MistypedAnswerError`.
 */
export function readVerdict(review: JsonObject, uid: string, mayPatch: boolean): WebhookAnswer {
  const { response } = review;
  if (response === undefined || response === null) {
    throw new InvalidAnswerError('webhook response was absent');
  }
  if (!isJsonObject(response))
    throw mistyped('AdmissionReview.response', response, 'v1.AdmissionResponse');
  const answered = text(response, 'uid', RESPONSE);
  if (answered !== uid) {
    throw new InvalidAnswerError(`expected response.uid=${quote(uid)}, got ${quote(answered)}`);
  }
  const apiVersion = text(review, 'apiVersion');
  const group = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  const given = `${group}, Kind=${text(review, 'kind')}`;
  if (given !== REVIEW) {
    throw new InvalidAnswerError(`expected webhook response of ${REVIEW}, got ${given}`);
  }
  const { allowed = false, warnings = [], status = {} } = response;
  if (typeof allowed !== 'boolean') throw mistyped(`${RESPONSE}allowed`, allowed, 'bool');
  if (!isListOfTexts(warnings)) throw mistyped(`${RESPONSE}warnings`, warnings, '[]string');
  if (!isStatus(status)) throw mistyped(`${RESPONSE}status`, status, 'v1.Status');
  return {
    refusal: allowed ? undefined : status,
    patch: mayPatch ? patchOf(response) : withoutPatch(response),
    warnings,
  };
}

const RESPONSE = 'AdmissionResponse.response.';
const REVIEW = 'admission.k8s.io/v1, Kind=AdmissionReview';

const BAD_REQUEST = 400;
/** The highest status code of HTTP. */
const LAST_CODE = 599;

/** The refusal as the client gets it: the webhook's own, with the webhook's name. */
export function refusalBy(webhook: string, given: Partial<Status>): ApiStatusError {
  const { message = '', reason = '', code = 0 } = given;
  const denied = `admission webhook ${quote(webhook)} denied the request`;
  const why = message === '' ? reason : message;
  return new ApiStatusError({
    ...given,
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: why === '' ? `${denied} without explanation` : `${denied}: ${why}`,
    code: code >= BAD_REQUEST && code <= LAST_CODE ? code : BAD_REQUEST,
  });
}

/** The operations of a patch. Throws `UndecodablePatchError`. */
export function readPatchOperations({ patch, patchType }: Patch): readonly JsonPatchOperation[] {
  let operations: readonly JsonPatchOperation[];
  try {
    operations = parseJsonPatch(readJson(patch).value);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UndecodablePatchError(`received undecodable patch in webhook response: ${why}`, {
      cause: error,
    });
  }
  if (operations.length === 0 || patchType === 'JSONPatch') return operations;
  throw new UndecodablePatchError(`unsupported patch type ${quote(patchType)}`);
}

function patchOf(response: JsonObject): Patch | undefined {
  const { patchType } = response;
  const encoded = text(response, 'patch', RESPONSE);
  if (encoded !== '' && isAbsent(patchType)) {
    throw new InvalidAnswerError('webhook returned response.patch but not response.patchType');
  }
  if (isAbsent(patchType)) return undefined;
  if (encoded === '') {
    throw new InvalidAnswerError('webhook returned response.patchType but not response.patch');
  }
  if (typeof patchType !== 'string') throw mistyped(`${RESPONSE}patchType`, patchType, 'string');
  if (patchType === '') {
    throw new InvalidAnswerError('webhook returned invalid response.patchType of ""');
  }
  if (!BASE64.test(encoded)) {
    const at = encoded.search(/[^A-Za-z0-9+/]/);
    throw new MistypedAnswerError(
      `illegal base64 data at input byte ${at < 0 ? encoded.length : at}`,
    );
  }
  return { patch: Buffer.from(encoded, 'base64').toString(), patchType };
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function withoutPatch(response: JsonObject): undefined {
  if (text(response, 'patch', RESPONSE) !== '') {
    throw new InvalidAnswerError('validating webhook may not return response.patch');
  }
  if (!isAbsent(response['patchType'])) {
    throw new InvalidAnswerError('validating webhook may not return response.patchType');
  }
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function text(object: JsonObject, member: string, prefix = 'AdmissionReview.'): string {
  const value = object[member] ?? '';
  if (typeof value === 'string') return value;
  throw mistyped(prefix + member, value, 'string');
}

function mistyped(field: string, value: unknown, type: string): MistypedAnswerError {
  return new MistypedAnswerError(
    `json: cannot unmarshal ${goTypeOf(value)} into Go struct field ${field} of type ${type}`,
  );
}

function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Checks the types of the members that this server or its clients use; the rest passes through. */
function isStatus(value: unknown): value is Partial<Status> {
  if (!isJsonObject(value)) return false;
  const { message = '', reason = '', code = 0, details = {} } = value;
  if (!isJsonObject(details)) return false;
  const { retryAfterSeconds = 0, causes = [] } = details;
  return (
    typeof message === 'string' &&
    typeof reason === 'string' &&
    Number.isSafeInteger(code) &&
    Number.isSafeInteger(retryAfterSeconds) &&
    Array.isArray(causes) &&
    causes.every(isJsonObject)
  );
}
