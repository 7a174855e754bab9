/** What the dashboard's server answers, with the headers that keep a browser from being misled. */
import type { HttpRequest, HttpResponse } from '../../../runtime/ports/transport.ts';

const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

export function answer(
  status: number,
  contentType: string,
  body: HttpResponse['body'],
  headers: HttpResponse['headers'] = {},
): HttpResponse {
  return {
    status,
    headers: { ...SECURITY_HEADERS, 'content-type': contentType, ...headers },
    body,
  };
}

export function jsonAnswer(status: number, value: unknown): HttpResponse {
  return answer(status, 'application/json; charset=utf-8', Buffer.from(JSON.stringify(value)));
}

/** A sentence for the page's script, or a short page, which needs no script and no style. */
export function refusal(
  { headers: { accept = '' } }: Pick<HttpRequest, 'headers'>,
  status: number,
  why: string,
  headers: HttpResponse['headers'] = {},
): HttpResponse {
  if (!accept.includes('text/html')) {
    return answer(status, 'text/plain; charset=utf-8', Buffer.from(why), headers);
  }
  const body = `<!doctype html>\n<html lang="en">\n<title>Lockstep</title>\n<p>${escaped(why)}</p>\n</html>\n`;
  return answer(status, 'text/html; charset=utf-8', Buffer.from(body), headers);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
