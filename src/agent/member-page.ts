/**
 * What an agent shows on loopback of its Pod: the members of its group, as the hub knows them. A user
 * who may forward a port of the Pod reads it, so that `lockstep status` needs no way to the hub itself.
 * The path names the JobSet by UID: on a node's own network a port may be another Pod's.
 */

import { MEMBER_PAGE_PATH } from '../jobset/names.ts';
import { withDeadline } from '../runtime/deadline.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import type { HttpHandler, HttpResponse } from '../runtime/ports/transport.ts';

export interface MemberPageOptions {
  readonly clock: Clock;
  readonly jobSetUid: string;
  /** Asks the hub. */
  readonly ask: (
    signal: AbortSignal,
  ) => Promise<{ readonly status: number; readonly body: Uint8Array }>;
}

/** Everybody who looks within this time gets the same answer. */
const FRESH_MS = 500;
const ASK_TIMEOUT_MS = 5000;

export function createMemberPage({ clock, jobSetUid, ask }: MemberPageOptions): HttpHandler {
  let last: { readonly answer: Promise<HttpResponse>; readonly atMs: number } | undefined;
  const asked = async (): Promise<HttpResponse> => {
    try {
      const { status, body } = await withDeadline(clock, ASK_TIMEOUT_MS, undefined, ask);
      return { status, headers: { 'content-type': 'application/json' }, body };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return text(502, `the hub was not reached: ${why}\n`);
    }
  };
  return ({ method, path }) => {
    if (path !== `${MEMBER_PAGE_PATH}/${jobSetUid}`) {
      return Promise.resolve(text(404, 'only the members of its own group are served here\n'));
    }
    if (method !== 'GET') return Promise.resolve(text(405, 'only GET is allowed\n'));
    const nowMs = clock.monotonic();
    if (last === undefined || nowMs - last.atMs >= FRESH_MS)
      last = { answer: asked(), atMs: nowMs };
    return last.answer;
  };
}

function text(status: number, body: string): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: new TextEncoder().encode(body),
  };
}
