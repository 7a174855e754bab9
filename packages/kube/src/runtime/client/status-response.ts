/**
 * Reads refusals: the `Status` that an API server answers or, from proxies and older servers, one
 * made from an HTTP code and some text.
 */

import { defined } from '../../json/defined.ts';
import { parsedJson } from '../../json/parsed-json.ts';
import { ApiStatusError, type Status, type StatusReason } from '../../status.ts';

/** How much of a text that is not a Status goes into a message. */
const MAX_QUOTED_CHARACTERS = 500;

/** The error for a response whose code is not 2xx. */
export function refusalOf(
  code: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): ApiStatusError {
  const retryAfterSeconds = retryAfterOf(headers);
  const status = parsedStatus(body);
  if (status !== undefined) return new ApiStatusError(completed(status, code, retryAfterSeconds));
  const text = body.trim().slice(0, MAX_QUOTED_CHARACTERS);
  return new ApiStatusError(
    completed({ message: text === '' ? messageOf(code) : text }, code, retryAfterSeconds),
  );
}

/** The error for the object of a watch's ERROR event, of any form. */
export function refusalOfObject(object: unknown): ApiStatusError {
  const status = isStatus(object) ? object : { message: JSON.stringify(object) };
  return new ApiStatusError(completed(status, status.code ?? 500, undefined));
}

function parsedStatus(body: string): Partial<Status> | undefined {
  if (!body.startsWith('{')) return undefined;
  const value = parsedJson(body);
  return isStatus(value) ? value : undefined;
}

function isStatus(value: unknown): value is Partial<Status> {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status';
}

function completed(
  status: Partial<Status>,
  code: number,
  retryAfterSeconds: number | undefined,
): Status {
  const reason = status.reason || usualReason(code);
  const wait = status.details?.retryAfterSeconds ?? retryAfterSeconds;
  return {
    ...status,
    kind: 'Status',
    apiVersion: 'v1',
    metadata: status.metadata ?? {},
    status: 'Failure',
    message: status.message || messageOf(code),
    code: status.code || code,
    ...defined({ reason }),
    ...(wait === undefined ? {} : { details: { ...status.details, retryAfterSeconds: wait } }),
  };
}

function messageOf(code: number): string {
  return `the server answered ${code} without saying why`;
}

/** Reads only the form in seconds, which API servers send. */
function retryAfterOf(headers: Readonly<Record<string, string>>): number | undefined {
  const value = headers['retry-after'] ?? '';
  return /^[0-9]{1,9}$/.test(value) ? Number(value) : undefined;
}

/** The reason that client-go assumes for a code without one. */
function usualReason(code: number): StatusReason | undefined {
  return USUAL_REASON[code];
}

const USUAL_REASON: Readonly<Record<number, StatusReason>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};
