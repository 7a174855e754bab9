/** What the dashboard's server answers, with the headers that keep a browser from being misled. */
import type { HttpRequest, HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';

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

export function jsonAnswer(
  status: number,
  value: unknown,
  headers: HttpResponse['headers'] = {},
): HttpResponse {
  const body = Buffer.from(JSON.stringify(value));
  return answer(status, 'application/json; charset=utf-8', body, headers);
}

/** Sets the cookie, if there is a new one, and takes the token out of the address. */
export function loggedIn(
  { headers: { 'sec-fetch-site': site = 'none' } }: Pick<HttpRequest, 'headers'>,
  cookie?: string,
): HttpResponse {
  const setCookie = cookie === undefined ? {} : { 'set-cookie': cookie };
  if (site === 'none' || site === 'same-origin') {
    return answer(303, 'text/plain; charset=utf-8', Buffer.from('See /\n'), {
      location: '/',
      ...setCookie,
    });
  }
  // The link was on a page of another site, a terminal in the browser perhaps. A browser sends no
  // Strict cookie when it follows a redirect from there, but does when this page leads on.
  const body = document('<meta http-equiv="refresh" content="0; url=/">');
  return answer(200, 'text/html; charset=utf-8', Buffer.from(body), setCookie);
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
  const body = document(`<p>${escaped(why)}</p>`);
  return answer(status, 'text/html; charset=utf-8', Buffer.from(body), headers);
}

function document(content: string): string {
  return `<!doctype html>\n<html lang="en">\n<title>Lockstep</title>\n${content}\n</html>\n`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
