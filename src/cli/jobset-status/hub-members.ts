/** Finds out what the hub knows, such as which epochs members have announced. */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { printable } from '@lockstep/kube/quote.ts';
import type { ClientConnection } from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { type MemberReport, parseMemberReports } from '../../jobset/hub/member-report.ts';
import { HUB_MEMBERS_PATH, MEMBER_PAGE_PATH } from '../../jobset/names.ts';
import { BusyHubError, DirectMembers, type HubPage, hubUrlOf } from './direct-members.ts';
import { forwardedMembers, MissingRightError } from './forwarded-members.ts';

/**
 * Only the operator's memory has them. A member's agent asks it for us, over a forwarded port of
 * its Pod; if that fails, we ask the hub directly.
 */
export class HubReader<Report> {
  readonly #connection: HubRoute;
  readonly #clock: Clock;
  readonly #page: HubPage<Report>;
  readonly #direct: DirectMembers<Report>;
  /** The Pod whose agent has answered before. */
  #podUid: string | undefined;

  constructor(connection: HubRoute, clock: Clock, page: HubPage<Report>) {
    this.#connection = connection;
    this.#clock = clock;
    this.#page = page;
    this.#direct = new DirectMembers(connection.client, page);
  }

  /** `pods` are of that JobSet. Never rejects, except with the signal's reason. */
  async ask(
    jobSetUid: string,
    pods: readonly Stored<Pod>[],
    signal: AbortSignal,
  ): Promise<Asked<Report>> {
    const members = pods.filter((pod) => isLive(pod) && hubUrlOf(pod) !== undefined);
    const candidates = this.#candidates(members);
    const [first] = candidates;
    // Without an agent that runs, as while no image is found, the hub has nothing new to tell.
    if (first === undefined) return { reports: undefined };
    const problems: string[] = [];
    let isBusy = false;
    const attempt = async (
      what: string,
      ask: (within: AbortSignal) => Promise<readonly Report[]>,
    ): Promise<readonly Report[] | undefined> => {
      try {
        return await withDeadline(this.#clock, TIMEOUT_MS, signal, ask);
      } catch (error) {
        signal.throwIfAborted();
        const why = error instanceof Error ? error.message : String(error);
        problems.push(printable(`${what}: ${why.slice(0, MAX_WHY_LENGTH)}`));
        isBusy = error instanceof BusyHubError;
        if (isBusy || error instanceof MissingRightError) candidates.length = 0;
        return undefined;
      }
    };
    for (let pod = candidates.shift(); pod !== undefined; pod = candidates.shift()) {
      const speaker = pod;
      const reports = await attempt(`through Pod ${pod.metadata.name}`, (within) =>
        forwardedMembers(this.#connection, this.#page, speaker, jobSetUid, within),
      );
      if (reports === undefined) continue;
      this.#podUid = pod.metadata.uid;
      return { reports };
    }
    const reports = isBusy
      ? undefined
      : await attempt(hubUrlOf(first) ?? '', (within) => this.#direct.ask(members, within));
    if (reports !== undefined) return { reports };
    this.#direct.close();
    return { problem: `the hub was not asked: ${problems.join('; ')}` };
  }

  close(): void {
    this.#direct.close();
  }

  /** Running members; the one that has answered before comes first. */
  #candidates(members: readonly Stored<Pod>[]): Stored<Pod>[] {
    const running = members.filter(hasRunningAgent);
    const before = running.filter(({ metadata }) => metadata.uid === this.#podUid);
    return [...new Set([...before, ...running])].slice(0, MAX_CANDIDATES);
  }
}

/** The members of one JobSet. */
export class HubMembers extends HubReader<MemberReport> {
  constructor(connection: HubRoute, clock: Clock) {
    super(connection, clock, MEMBERS);
  }
}

const MEMBERS: HubPage<MemberReport> = {
  hubPath: HUB_MEMBERS_PATH,
  agentPath: MEMBER_PAGE_PATH,
  what: 'members',
  parse: parseMemberReports,
};

export type HubRoute = Pick<ClientConnection, 'client' | 'transport' | 'credentials'>;

export type Asked<Report = MemberReport> =
  /** Without reports if no member uses a hub, or no agent runs. */
  | { readonly reports: readonly Report[] | undefined }
  /** As a sentence. */
  | { readonly problem: string };

/** An answer may be of any length. */
const MAX_WHY_LENGTH = 500;
/** Per way of asking. */
const TIMEOUT_MS = 3000;
/** Agents of an older version have no page. */
const MAX_CANDIDATES = 2;

function isLive({ metadata, status }: Pod): boolean {
  const hasEnded = status?.phase === 'Failed' || status?.phase === 'Succeeded';
  return !hasEnded && metadata.deletionTimestamp === undefined;
}

/** At the barrier a sidecar runs before all containers of its Pod. */
function hasRunningAgent({ status }: Pod): boolean {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return statuses.some(({ state }) => state?.running !== undefined);
}
