/**
 * Who may ask the dashboard's server for what. Any web page can send requests to this machine, and any
 * name can be made to resolve to it, so an address alone proves nothing.
 */

import { ownMember } from '@lockstep/kube/json/json-value.ts';
import type { HttpRequest } from '@lockstep/kube/runtime/ports/transport.ts';
import {
  ACTIONS,
  CLUSTER,
  LOG_EVENTS,
  OVERVIEW_EVENTS,
  PASS,
  RENEW,
  RUN_EVENTS,
  START,
  TRACE,
  TRACE_STATE,
} from '../../../dashboard/messages/paths.ts';
import { NO_SESSION } from './sessions.ts';

/** What is asked for, by someone who may. */
export type Permitted =
  | { readonly kind: 'File'; readonly name: string; readonly contentType: string }
  | {
      [Kind in RequestKind]: { readonly kind: Kind; readonly query: URLSearchParams };
    }[RequestKind];

export type Judgement =
  | {
      readonly kind: 'Permitted';
      readonly request: Permitted;
      /** The cookie of its session; undefined for what all may ask. */
      readonly session: string | undefined;
    }
  /** Exchange the token for a cookie, and take it out of the address. */
  | {
      readonly kind: 'LogIn';
      readonly token: string;
      /** The cookie, if it is of a session: the token may be an old one. */
      readonly session: string | undefined;
    }
  | {
      readonly kind: 'Refused';
      readonly status: number;
      readonly why: string;
      readonly allow?: string;
    };

export interface GuardOptions {
  /** Port on which the server listens. */
  readonly port: number;
  /** Whether a cookie is of a session. */
  readonly hasSession: (cookie: string) => boolean;
}

const FILES: Readonly<Record<string, { readonly name: string; readonly contentType: string }>> = {
  '/': { name: 'index.html', contentType: 'text/html; charset=utf-8' },
  '/page.js': { name: 'page.js', contentType: 'text/javascript; charset=utf-8' },
  '/icon.svg': { name: 'icon.svg', contentType: 'image/svg+xml' },
  '/style.css': { name: 'style.css', contentType: 'text/css; charset=utf-8' },
};

const REQUESTS = {
  [OVERVIEW_EVENTS]: 'Overview',
  [RUN_EVENTS]: 'Run',
  [LOG_EVENTS]: 'Log',
  [ACTIONS]: 'Action',
  [CLUSTER]: 'Cluster',
  [TRACE]: 'Trace',
  [TRACE_STATE]: 'TraceState',
  [PASS]: 'Pass',
  [START]: 'Start',
  [RENEW]: 'Renew',
} as const;
type RequestKind = (typeof REQUESTS)[keyof typeof REQUESTS];

/** A cookie belongs to all ports of a host, so its name has the port. */
export function cookieName(port: number): string {
  return `lockstep-${port}`;
}

export function judge(
  { method, path, headers }: Pick<HttpRequest, 'method' | 'path' | 'headers'>,
  options: GuardOptions,
): Judgement {
  const hosts = hostsOf(options.port);
  const host = headers['host'] ?? '';
  if (!hosts.includes(host)) return refused(421, `this server is ${hosts.join(', ')}`);
  const [pathname = '', ...rest] = path.split('?');
  const query = new URLSearchParams(rest.join('?'));
  const token = query.get('token');
  const session = sessionOf(headers['cookie'] ?? '', options);
  if (pathname === '/' && token !== null) {
    if (method !== 'GET') return notAllowed('GET');
    return { kind: 'LogIn', token, session };
  }
  const kind = ownMember<RequestKind>(REQUESTS, pathname);
  const asked = kind && { kind, query };
  if (session === undefined && !(asked !== undefined && FOR_ALL.includes(asked.kind))) {
    return refused(401, NO_SESSION);
  }
  const file = ownMember(FILES, pathname);
  if (file !== undefined) {
    if (method !== 'GET' && method !== 'HEAD') return notAllowed('GET, HEAD');
    return { kind: 'Permitted', request: { kind: 'File', ...file }, session };
  }
  if (asked === undefined) return refused(404, 'there is no such page');
  const expected = POSTED.includes(asked.kind) ? 'POST' : 'GET';
  if (method !== expected) return notAllowed(expected);
  return foreign(headers, host, asked) ?? { kind: 'Permitted', request: asked, session };
}

/** What a page asks for that has no session, because its server was started again. */
const FOR_ALL: readonly Permitted['kind'][] = ['Start', 'Renew'];
const POSTED: readonly Permitted['kind'][] = ['Action', 'Renew'];

function hostsOf(port: number): readonly string[] {
  return ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`);
}

function sessionOf(cookies: string, { port, hasSession }: GuardOptions): string | undefined {
  const prefix = `${cookieName(port)}=`;
  return cookies
    .split(';')
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie.startsWith(prefix))
    .map((cookie) => cookie.slice(prefix.length))
    .find(hasSession);
}

/** Pages of other origins, other ports of this machine among them, must neither read nor act. */
function foreign(
  headers: HttpRequest['headers'],
  host: string,
  { kind }: Permitted,
): Judgement | undefined {
  const { origin, 'sec-fetch-site': site } = headers;
  const isOwn = origin === `http://${host}`;
  if (origin !== undefined && !isOwn) return refused(403, 'this is not for pages of other origins');
  if (site !== undefined && site !== 'same-origin') {
    return refused(403, 'this is only for the page of this server');
  }
  if (!POSTED.includes(kind)) return undefined;
  if (origin === undefined) return refused(403, 'the header Origin is missing');
  const [contentType = ''] = (headers['content-type'] ?? '').split(';');
  return contentType.trim().toLowerCase() === 'application/json'
    ? undefined
    : refused(415, 'expected Content-Type: application/json');
}

function notAllowed(allow: string): Judgement {
  return { kind: 'Refused', status: 405, why: `allowed is ${allow}`, allow };
}

function refused(status: number, why: string): Judgement {
  return { kind: 'Refused', status, why };
}
