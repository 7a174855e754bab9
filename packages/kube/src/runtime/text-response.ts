import type { HttpResponse } from './ports/transport.ts';

/** An answer in plain text. */
export function textResponse(
  status: number,
  text: string,
  headers: HttpResponse['headers'] = {},
): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
    body: Buffer.from(text),
  };
}
