/**
 * Serves the hub's reports about the group's members, and about the groups of its namespace, on
 * loopback of the agent's Pod. A user who may forward a port of the Pod can read them, so
 * `lockstep status` needs no route to the hub. The path names the JobSet by UID, because on a host
 * network the port may belong to another Pod.
 */

import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { HttpHandler, HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { textResponse } from '@lockstep/kube/runtime/text-response.ts';
import {
  GROUP_PAGE_PATH,
  HUB_GROUPS_PATH,
  HUB_MEMBERS_PATH,
  MEMBER_PAGE_PATH,
} from '../jobset/names.ts';

export interface MemberPageOptions {
  readonly clock: Clock;
  readonly jobSetUid: string;
  /** Asks the hub. */
  readonly ask: (
    path: HubPath,
    signal: AbortSignal,
  ) => Promise<{ readonly status: number; readonly body: Uint8Array }>;
}

type HubPath = typeof HUB_MEMBERS_PATH | typeof HUB_GROUPS_PATH;

/** All readers within this time get one answer. */
const FRESH_MS = 500;
const ASK_TIMEOUT_MS = 5000;

export function createMemberPage({ clock, jobSetUid, ask }: MemberPageOptions): HttpHandler {
  const served = new Map<string, HubPath>([
    [`${MEMBER_PAGE_PATH}/${jobSetUid}`, HUB_MEMBERS_PATH],
    [`${GROUP_PAGE_PATH}/${jobSetUid}`, HUB_GROUPS_PATH],
  ]);
  const known = new Map<
    HubPath,
    { readonly answer: Promise<HttpResponse>; readonly atMs: number }
  >();
  const asked = async (page: HubPath): Promise<HttpResponse> => {
    try {
      const { status, body } = await withDeadline(clock, ASK_TIMEOUT_MS, undefined, (signal) =>
        ask(page, signal),
      );
      return { status, headers: { 'content-type': 'application/json' }, body };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return textResponse(502, `the hub was not reached: ${why}\n`);
    }
  };
  return ({ method, path }) => {
    const page = served.get(path);
    if (page === undefined) {
      return Promise.resolve(
        textResponse(404, 'only the members of its own group are served here\n'),
      );
    }
    if (method !== 'GET') return Promise.resolve(textResponse(405, 'only GET is allowed\n'));
    const nowMs = clock.monotonic();
    const last = known.get(page);
    if (last !== undefined && nowMs - last.atMs < FRESH_MS) return last.answer;
    const answer = asked(page);
    known.set(page, { answer, atMs: nowMs });
    return answer;
  };
}
