import type { ApiStatusError } from '../../kube/status.ts';
import type { HttpResponse } from '../ports/transport.ts';

/** A refusal as the answer of a server: its `Status`, and when to come again. */
export function refusalResponse({ code, status }: ApiStatusError): HttpResponse {
  const { retryAfterSeconds } = status.details ?? {};
  return {
    status: code,
    headers: {
      'content-type': 'application/json',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
    body: Buffer.from(JSON.stringify(status)),
  };
}
