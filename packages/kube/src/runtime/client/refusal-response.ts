import type { ApiStatusError } from '../../status.ts';
import type { HttpResponse } from '../ports/transport.ts';

/** A refusal as a server's answer: its `Status`, and when to retry. */
export function refusalResponse({ code, status }: ApiStatusError): HttpResponse {
  const { retryAfterSeconds } = status.details ?? {};
  const body = Buffer.from(JSON.stringify(status));
  return {
    status: code,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-cache, private',
      'content-length': String(body.byteLength),
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
    body,
  };
}
