/** The usual refusals of an API server. */
import { quote } from './quote.ts';
import { groupResourceOf, type Resource } from './resource.ts';
import { type ApiStatusError, failure, type StatusDetails } from './status.ts';

/**
 * Texts are the same as in `k8s.io/apimachinery/pkg/api/errors`, which users, scripts and clients
 * know. 422 `Invalid` is in `field-error.ts`.
 */
type Of = Pick<Resource, 'group' | 'plural'>;

export function notFound(of: Of, name: string): ApiStatusError {
  return failure('NotFound', `${named(of, name)} not found`, detailsOf(of, name));
}

export function alreadyExists(of: Of, name: string): ApiStatusError {
  return failure('AlreadyExists', `${named(of, name)} already exists`, detailsOf(of, name));
}

/** `generateName` led to existing names too often. */
export function generateNameConflict(of: Of, name: string): ApiStatusError {
  const why = 'the server was not able to generate a unique name for the object';
  return failure('AlreadyExists', `${named(of, name)} already exists, ${why}`, {
    ...detailsOf(of, name),
    retryAfterSeconds: 1,
  });
}

/** The object is not at the `resourceVersion` (or `uid`) of the write. */
export function conflict(of: Of, name: string, why: string = MODIFIED): ApiStatusError {
  const message = `Operation cannot be fulfilled on ${named(of, name)}: ${why}`;
  return failure('Conflict', message, detailsOf(of, name));
}

export const MODIFIED =
  'the object has been modified; please apply your changes to the latest version and try again';

export function forbidden(of: Of | undefined, name: string, why: string): ApiStatusError {
  if (of === undefined) return failure('Forbidden', `forbidden: ${why}`);
  const what = name === '' ? groupResourceOf(of) : named(of, name);
  return failure('Forbidden', `${what} is forbidden: ${why}`, detailsOf(of, name));
}

export function unauthorized(why = 'Unauthorized'): ApiStatusError {
  return failure('Unauthorized', why);
}

export function badRequest(why: string, cause?: unknown): ApiStatusError {
  const refusal = failure('BadRequest', why);
  refusal.cause = cause;
  return refusal;
}

/** The collection or object exists but lacks this verb. `action` is a word such as `patch`. */
export function methodNotSupported(of: Of, action: string): ApiStatusError {
  const message = `${action} is not supported on resources of kind ${quote(groupResourceOf(of))}`;
  return failure('MethodNotAllowed', message, detailsOf(of));
}

/** The HTTP method has no meaning at this path. */
export function methodNotAllowed(): ApiStatusError {
  const message = 'the server does not allow this method on the requested resource';
  return failure('MethodNotAllowed', message, {});
}

/** The answer for an unknown group, version or resource. */
export function unknownResource(): ApiStatusError {
  return failure('NotFound', 'the server could not find the requested resource', {});
}

export function unsupportedMediaType(accepted: readonly string[]): ApiStatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return failure('UnsupportedMediaType', message);
}

/** The path takes no body of any media type. */
export function unsupportedAnyhow(): ApiStatusError {
  return failure('UnsupportedMediaType', '415: Unsupported Media Type', {});
}

export function notAcceptable(offered: readonly string[]): ApiStatusError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${offered.join(', ')}`;
  return failure('NotAcceptable', message, {});
}

/** The history that a watch or a continuation needs is gone: the client has to list again. */
export function expired(
  why = 'The resourceVersion for the provided watch is too old.',
): ApiStatusError {
  return failure('Expired', why);
}

export function tooManyRequests(why: string, retryAfterSeconds: number): ApiStatusError {
  return failure('TooManyRequests', why, { retryAfterSeconds });
}

export function requestEntityTooLarge(why: string): ApiStatusError {
  return failure('RequestEntityTooLarge', `Request entity too large: ${why}`);
}

export function serviceUnavailable(why: string): ApiStatusError {
  return failure('ServiceUnavailable', why);
}

/** The server gave up waiting, and the outcome is unknown. */
export function timedOut(why: string, retryAfterSeconds = 0): ApiStatusError {
  const details = retryAfterSeconds === 0 ? {} : { retryAfterSeconds };
  return failure('Timeout', `Timeout: ${why}`, details);
}

/** An internal error, reported to the client without details. */
export function internalError(why: string, cause?: unknown): ApiStatusError {
  const details = { causes: [{ message: why }] };
  const refusal = failure('InternalError', `Internal error occurred: ${why}`, details);
  refusal.cause = cause;
  return refusal;
}

function named(of: Of, name: string): string {
  return `${groupResourceOf(of)} ${quote(name)}`;
}

/** In the details of a `Status`, the resource stands under `kind`. */
function detailsOf(of: Of, name = ''): StatusDetails {
  return {
    ...(name === '' ? {} : { name }),
    ...(of.group === '' ? {} : { group: of.group }),
    kind: of.plural,
  };
}
