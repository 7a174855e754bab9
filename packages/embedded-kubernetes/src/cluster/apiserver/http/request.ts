/** A parsed request with its authenticated caller, and common answers. */
import type { HttpRequest, HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import type { User } from '../identity/authentication.ts';

export interface ApiRequest {
  readonly method: HttpRequest['method'];
  readonly path: string;
  /** Decoded segments of the path. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
  readonly headers: HttpRequest['headers'];
  readonly body: Uint8Array | undefined;
  readonly signal: AbortSignal;
  readonly user: User;
  /** Texts for the `Warning` headers of the answer. */
  readonly warnings: string[];
}

export function jsonResponse(status: number, value: unknown): HttpResponse {
  return bytesResponse(status, 'application/json', Buffer.from(JSON.stringify(value)));
}

export function bytesResponse(
  status: number,
  contentType: string,
  body: HttpResponse['body'],
): HttpResponse {
  const noCache = { 'cache-control': 'no-cache, private' };
  const length =
    body instanceof Uint8Array ? { 'content-length': String(body.byteLength) } : undefined;
  return { status, headers: { 'content-type': contentType, ...noCache, ...length }, body };
}

/** The answer to a successful request without an object to show. */
export function successStatus(code: number): HttpResponse {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code };
  return jsonResponse(code, status);
}

export function textResponse(status: number, text: string): HttpResponse {
  return bytesResponse(status, 'text/plain; charset=utf-8', Buffer.from(text));
}

/** The answer for an unknown path. */
export function pathNotFound(): HttpResponse {
  return textResponse(404, '404 page not found\n');
}
