import { defined } from './json/defined.ts';
/**
 * `meta/v1 Status` and the one table of API failures. Every refusal of our servers is built here,
 * and every refusal that a client meets is an `ApiStatusError`, so codes, reasons and texts agree.
 */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly continue?: string };
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: StatusReason;
  readonly details?: StatusDetails;
  readonly code: number;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** HTTP code of each reason, from `meta/v1` `StatusReason`. */
const CODE_OF_REASON = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
  ServerTimeout: 500,
} as const;

export type StatusReason = keyof typeof CODE_OF_REASON;

/** A refusal by an API server. `status` is the whole answer, or what could be read of it. */
export class ApiStatusError extends Error {
  override readonly name = 'ApiStatusError';
  readonly status: Status;

  constructor(status: Status, options?: { readonly cause?: unknown }) {
    super(status.message ?? `the server answered ${status.code}`, options);
    this.status = status;
  }

  get code(): number {
    return this.status.code;
  }

  /** The reason in the status, or else the usual one for its code. */
  get reason(): StatusReason | undefined {
    return this.status.reason;
  }
}

/** A failure `Status` with the code that belongs to its reason. */
export function failure(
  reason: StatusReason,
  message: string,
  details?: StatusDetails,
): ApiStatusError {
  return new ApiStatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...defined({ details }),
    code: CODE_OF_REASON[reason],
  });
}

/** The failure that Kubernetes makes of an error without a reason: a code and the text. */
export function failureWithoutReason(
  message: string,
  code: number = CODE_OF_REASON.InternalError,
): ApiStatusError {
  return new ApiStatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    code,
  });
}

/** True for an `ApiStatusError` with one of `reasons`. */
export function isReason(
  error: unknown,
  ...reasons: readonly StatusReason[]
): error is ApiStatusError {
  return (
    error instanceof ApiStatusError && error.reason !== undefined && reasons.includes(error.reason)
  );
}

/**
 * One problem of one field, `k8s.io/apimachinery/pkg/util/validation/field.Error`. `detail` is the
 * text after the kind of error; `format` in `field-error.ts` renders the whole line.
 */
export interface FieldError {
  readonly type: FieldErrorType;
  /** For example `spec.replicatedJobs[0].name`. */
  readonly field: string;
  readonly badValue?: unknown;
  readonly detail: string;
}

export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

/**
 * Whether a creation was refused because the namespace is being deleted or gone, so a retry is
 * useless.
 */
export function isNamespaceGoing(error: unknown): boolean {
  if (!(error instanceof ApiStatusError)) return false;
  const { kind, causes = [] } = error.status.details ?? {};
  const isGone = error.reason === 'NotFound' && kind === 'namespaces';
  return isGone || causes.some(({ reason }) => reason === 'NamespaceTerminating');
}
