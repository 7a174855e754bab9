/** Asks the hub for what lists tell of groups: in each namespace once for all its JobSets. */

import { namespaceOf, type Stored } from '@lockstep/kube/meta.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { forEachConcurrently } from '@lockstep/kube/runtime/concurrency.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { claims } from '../../jobset/membership.ts';
import { GROUP_PAGE_PATH, HUB_GROUPS_PATH, JOBSET_UID } from '../../jobset/names.ts';
import { type HeardGroup, parseGroupReports } from '../../jobset/view/group-report.ts';
import { jobSetState } from '../../jobset/view/jobset-state.ts';
import { HubReader, type HubRoute } from '../jobset-status/hub-members.ts';

/** By UID of the JobSet. What is missing is not known. */
export type HeardGroups = ReadonlyMap<string, HeardGroup>;

/** Namespaces that are asked, the first by name. */
const MAX_NAMESPACES = 64;
const MAX_AT_A_TIME = 8;
/** A list does not wait longer for the hub. */
const TIMEOUT_MS = 3000;
/** How long it is not asked again after it could not be asked, for example for want of a right. */
const REST_MS = 30_000;
/** JobSets of which a Pod is looked for, and Pods that are looked at. */
const MAX_JOBSETS = 20;
const MAX_PODS = 10;

/** Through whom a namespace is asked. */
interface Speaker {
  readonly reader: HubReader<HeardGroup>;
  readonly jobSetUid: string;
  readonly pods: readonly Stored<Pod>[];
}

export class HubGroups {
  readonly #route: HubRoute;
  readonly #clock: Clock;
  /** By namespace. */
  readonly #speakers = new Map<string, Speaker>();
  /** By namespace, in monotonic milliseconds. */
  readonly #restUntil = new Map<string, number>();

  constructor(route: HubRoute, clock: Clock) {
    this.#route = route;
    this.#clock = clock;
  }

  /** Never rejects, except with the signal's reason. */
  async ask(jobSets: Iterable<Stored<JobSet>>, signal: AbortSignal): Promise<HeardGroups> {
    const heard = new Map<string, HeardGroup>();
    const namespaces = groupsByNamespace(jobSets);
    this.#forgetAllBut(namespaces);
    const asked = [...namespaces].sort(byNamespace).slice(0, MAX_NAMESPACES);
    const round = withDeadline(this.#clock, TIMEOUT_MS, signal, (within) =>
      forEachConcurrently(asked, MAX_AT_A_TIME, async ([namespace, groups]) => {
        for (const group of await this.#askIn(namespace, groups, within)) {
          // A Pod answers, and it may speak for its own namespace only.
          if (groups.has(group.jobSet)) heard.set(group.jobSet, group);
        }
      }),
    );
    await round.catch(() => signal.throwIfAborted());
    return heard;
  }

  close(): void {
    this.#forgetAllBut(new Map());
  }

  async #askIn(
    namespace: string,
    groups: ReadonlyMap<string, Stored<JobSet>>,
    signal: AbortSignal,
  ): Promise<readonly HeardGroup[]> {
    const nowMs = this.#clock.monotonic();
    if (nowMs < (this.#restUntil.get(namespace) ?? 0)) return [];
    // Before it is known: who does not answer in time is asked no more for a while, too.
    this.#restUntil.set(namespace, nowMs + REST_MS);
    const known = this.#speakers.get(namespace);
    const reports = known && (await reportsOf(known, signal));
    if (reports !== undefined) return this.#answered(namespace, reports);
    this.#forget(namespace);
    const pods = await this.#podsOf(namespace, groups, signal);
    const jobSetUid = pods[0]?.metadata.labels?.[JOBSET_UID];
    if (jobSetUid === undefined) return this.#answered(namespace, []);
    const page = {
      hubPath: HUB_GROUPS_PATH,
      agentPath: GROUP_PAGE_PATH,
      what: 'groups',
      parse: (text: string) => parseGroupReports(text, this.#clock.now()),
    };
    const reader = new HubReader<HeardGroup>(this.#route, this.#clock, page);
    const speaker = { reader, jobSetUid, pods };
    this.#speakers.set(namespace, speaker);
    const first = await reportsOf(speaker, signal);
    if (first !== undefined) return this.#answered(namespace, first);
    this.#forget(namespace);
    return [];
  }

  #answered(namespace: string, reports: readonly HeardGroup[]): readonly HeardGroup[] {
    this.#restUntil.delete(namespace);
    return reports;
  }

  /** Running Pods of one of the groups. */
  async #podsOf(
    namespace: string,
    groups: ReadonlyMap<string, Stored<JobSet>>,
    signal: AbortSignal,
  ): Promise<readonly Stored<Pod>[]> {
    const uids = [...groups.keys()].slice(0, MAX_JOBSETS);
    const { items } = await this.#route.client.list(PODS, {
      namespace,
      labelSelector: `${JOBSET_UID} in (${uids.join()})`,
      fieldSelector: 'status.phase=Running',
      limit: MAX_PODS,
      signal,
    });
    const members = items.filter((pod) => {
      const jobSet = groups.get(pod.metadata.labels?.[JOBSET_UID] ?? '');
      return jobSet !== undefined && claims(pod, jobSet);
    });
    const uid = members[0]?.metadata.labels?.[JOBSET_UID];
    return members.filter(({ metadata }) => metadata.labels?.[JOBSET_UID] === uid);
  }

  #forgetAllBut(namespaces: ReadonlyMap<string, unknown>): void {
    for (const namespace of this.#speakers.keys()) {
      if (!namespaces.has(namespace)) this.#forget(namespace);
    }
    for (const namespace of this.#restUntil.keys()) {
      if (!namespaces.has(namespace)) this.#restUntil.delete(namespace);
    }
  }

  #forget(namespace: string): void {
    this.#speakers.get(namespace)?.reader.close();
    this.#speakers.delete(namespace);
  }
}

/** Undefined: nobody has answered. */
async function reportsOf(
  { reader, jobSetUid, pods }: Speaker,
  signal: AbortSignal,
): Promise<readonly HeardGroup[] | undefined> {
  const asked = await reader.ask(jobSetUid, pods, signal);
  return 'reports' in asked ? asked.reports : undefined;
}

type Groups = Map<string, Stored<JobSet>>;

/** JobSets whose groups may have something to report, running ones first. */
function groupsByNamespace(jobSets: Iterable<Stored<JobSet>>): ReadonlyMap<string, Groups> {
  const states = ['Released', 'AtBarrier'];
  const telling = [...jobSets].map((jobSet) => ({ jobSet, state: jobSetState(jobSet) }));
  const groups = new Map<string, Groups>();
  for (const wanted of states) {
    for (const { jobSet, state } of telling) {
      if (state !== wanted) continue;
      const namespace = namespaceOf(jobSet.metadata);
      const known = groups.get(namespace) ?? new Map<string, Stored<JobSet>>();
      groups.set(namespace, known.set(jobSet.metadata.uid, jobSet));
    }
  }
  return groups;
}

function byNamespace([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
