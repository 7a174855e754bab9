import { isJsonObject, type JsonObject } from '../../../kube/json-value.ts';
import { type JsonPatchOperation, parseJsonPatch } from '../../../kube/patch/json-patch.ts';
import { quote } from '../../../kube/quote.ts';
import { ApiStatusError, type Status } from '../../../kube/status.ts';
import { internalError } from '../../../kube/status-errors.ts';
import { readJson } from '../json-reader.ts';

/** What a webhook decided, once its answer was found to be one. */
export interface Verdict {
  /** Undefined for a request that may go on. */
  readonly refusal: Partial<Status> | undefined;
  /** JSON text, not yet read; undefined if nothing is to be changed. */
  readonly patch: string | undefined;
  readonly warnings: readonly string[];
}

/** Thrown for an answer that means nothing: the call has failed. */
export class InvalidAnswerError extends Error {
  override readonly name = 'InvalidAnswerError';
}

/** Checks an answer as the API server does, with its texts. Throws `InvalidAnswerError`. */
export function readVerdict(review: JsonObject, uid: string, mayPatch: boolean): Verdict {
  const { response } = review;
  if (response === undefined || response === null) {
    throw new InvalidAnswerError('webhook response was absent');
  }
  if (!isJsonObject(response)) throw mistyped('response', 'an object');
  const answered = text(response, 'uid');
  if (answered !== uid) {
    throw new InvalidAnswerError(`expected response.uid=${quote(uid)}, got ${quote(answered)}`);
  }
  const given = `${text(review, 'apiVersion')}, Kind=${text(review, 'kind')}`;
  if (given !== REVIEW) {
    throw new InvalidAnswerError(`expected webhook response of ${REVIEW}, got ${given}`);
  }
  const { allowed = false, warnings = [], status = {} } = response;
  if (typeof allowed !== 'boolean') throw mistyped('response.allowed', 'a boolean');
  if (!isListOfTexts(warnings)) throw mistyped('response.warnings', 'a list of strings');
  if (!isStatus(status)) throw mistyped('response.status', 'a Status');
  return {
    refusal: allowed ? undefined : status,
    patch: mayPatch ? patchOf(response) : withoutPatch(response),
    warnings,
  };
}

const REVIEW = 'admission.k8s.io/v1, Kind=AdmissionReview';

const BAD_REQUEST = 400;
/** What HTTP can say at most. */
const LAST_CODE = 599;

/** The refusal as the client gets it: the webhook's own, with the name of who says so. */
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

/** The operations of a patch. A text that is none is the webhook's fault, and not its choice. */
export function readPatchOperations(patch: string): readonly JsonPatchOperation[] {
  try {
    return parseJsonPatch(readJson(patch).value);
  } catch (error) {
    throw internalError(error instanceof Error ? error.message : String(error), error);
  }
}

function patchOf(response: JsonObject): string | undefined {
  const { patchType } = response;
  const encoded = text(response, 'patch', 'response.');
  if (encoded !== '' && isAbsent(patchType)) {
    throw new InvalidAnswerError('webhook returned response.patch but not response.patchType');
  }
  if (isAbsent(patchType)) return undefined;
  if (encoded === '') {
    throw new InvalidAnswerError('webhook returned response.patchType but not response.patch');
  }
  if (patchType !== 'JSONPatch') {
    const shown = typeof patchType === 'string' ? quote(patchType) : JSON.stringify(patchType);
    throw new InvalidAnswerError(`webhook returned invalid response.patchType of ${shown}`);
  }
  if (!BASE64.test(encoded)) throw mistyped('response.patch', 'base64');
  return Buffer.from(encoded, 'base64').toString();
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function withoutPatch(response: JsonObject): undefined {
  if (text(response, 'patch', 'response.') !== '') {
    throw new InvalidAnswerError('validating webhook may not return response.patch');
  }
  if (!isAbsent(response['patchType'])) {
    throw new InvalidAnswerError('validating webhook may not return response.patchType');
  }
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function text(object: JsonObject, member: string, prefix = ''): string {
  const value = object[member] ?? '';
  if (typeof value === 'string') return value;
  throw mistyped(prefix + member, 'a string');
}

function mistyped(field: string, expected: string): InvalidAnswerError {
  return new InvalidAnswerError(`${field} must be ${expected}`);
}

function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Members that this server or its clients compute with have their types; the rest passes through. */
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
