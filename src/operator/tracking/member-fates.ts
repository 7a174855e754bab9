/**
 * What became of the members of each group: soft state, kept until the record of the restart is
 * written, and lost with this process. Agents repeat their reports; no decision about an epoch
 * depends on it (`docs/design/culprits.md#what-is-known`).
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Announcement, WorkerSuccess } from '../../jobset/hub/message.ts';
import type { JobSetStatus } from '../../jobset/jobset-status.ts';
import { membershipOf, type Owner, ownerKey } from '../../jobset/membership.ts';
import { REPLICATED_JOB_NAME } from '../../jobset/names.ts';
import type { Member, MemberEnd, MemberEvidence } from '../../jobset/roster/group-evidence.ts';
import { type PodFacts, podFacts } from '../../jobset/roster/pod-facts.ts';
import { placeIn } from '../../jobset/roster/worker-name.ts';
import { releasedEpoch } from '../../jobset/status/epochs.ts';
import { type EndedWorker, shifted } from '../../jobset/worker-end/worker-evidence.ts';

export interface MemberFatesOptions {
  readonly jobWithUid: (uid: string) => Stored<Job> | undefined;
  /** Undefined for a JobSet that is gone, is over, or does not restart in place. */
  readonly statusOf: (jobSet: Owner) => JobSetStatus | undefined;
  /** The newest epoch that the agent of that Pod has announced over the hub. */
  readonly spokenEpoch: (podUid: string) => number | undefined;
  /** Monotonic. */
  readonly nowMs: () => number;
}

/** Pods of a group that are remembered: new Pods in place of failed ones may be without end. */
const MAX_PODS = 20_000;
/** Members of a group whose last words are remembered, half a kilobyte each. */
const MAX_WORDS = 256;

type Pod = Stored<PartialObjectMetadata>;

interface Known {
  /** The epoch in which the worker ran. */
  readonly epoch: number;
  /** Without its node. */
  readonly member: Member;
  end: MemberEnd;
}

interface Group {
  /** No epoch before this one is of interest. */
  floor: number;
  /** By UID of the Pod. */
  readonly pods: Map<string, Known>;
  /** How many of them have last words. */
  words: number;
}

export class MemberFates {
  readonly #options: MemberFatesOptions;
  /** By `ownerKey` of the JobSet. */
  readonly #groups = new Map<string, Group>();
  /** When agents without a stream were last known to live, by UID of the Pod. */
  readonly #left = new Map<string, number>();
  /** Nodes of Pods that were read while they were overdue, by UID of the Pod. */
  readonly #nodes = new Map<string, string>();

  constructor(options: MemberFatesOptions) {
    this.#options = options;
  }

  /** Members whose worker ran in that epoch, and of whose end something is known. */
  of(jobSet: Owner, epoch: number): readonly MemberEvidence[] {
    const found: MemberEvidence[] = [];
    for (const [uid, known] of this.#groups.get(ownerKey(jobSet))?.pods ?? []) {
      if (known.epoch !== epoch) continue;
      const node = this.#nodes.get(uid);
      found.push({ member: { ...known.member, ...defined({ node }) }, end: known.end });
    }
    return found;
  }

  /** What is known of the ends in epochs before that one is in the status now. */
  settle(jobSet: Owner, epoch: number): void {
    const group = this.#groups.get(ownerKey(jobSet));
    if (group === undefined || group.floor >= epoch) return;
    group.floor = epoch;
    for (const [uid, known] of group.pods) if (known.epoch < epoch) this.#drop(group, uid, known);
  }

  forget(jobSet: Owner): void {
    const group = this.#groups.get(ownerKey(jobSet));
    for (const uid of group?.pods.keys() ?? []) this.#nodes.delete(uid);
    this.#groups.delete(ownerKey(jobSet));
  }

  /** The agent of a Pod announces an epoch over the hub, before it counts as announced. */
  announced(pod: Pod, { epoch, ended }: Pick<Announcement, 'epoch' | 'ended'>): void {
    const { uid } = pod.metadata;
    const leftMs = this.#left.get(uid);
    this.#left.delete(uid);
    if (ended !== undefined) {
      this.#note(pod, epoch - 1, { kind: 'Ended', ...this.#onOurClock(ended) });
    } else if (leftMs !== undefined && this.#epochOf(pod, podFacts(pod)) === epoch - 1) {
      this.#note(pod, epoch - 1, { kind: 'Returned', atMs: leftMs });
    }
  }

  /** Its agent tells when its worker exited with 0, which the Pod shows only later. */
  succeeded(pod: Pod, { epoch, ended }: WorkerSuccess): void {
    if (this.#epochOf(pod, podFacts(pod)) !== epoch) return;
    this.#note(pod, epoch, { kind: 'Ended', ...this.#onOurClock(ended) });
  }

  /** The stream of a Pod's agent is over, and `seenMs` is when the agent was last known to live. */
  left(podUid: string, seenMs: number, pod: Pod | undefined): void {
    if (pod === undefined || this.#left.size >= MAX_PODS) return;
    this.#left.set(podUid, seenMs);
    const known = this.#member(pod)?.group.pods.get(podUid);
    if (known?.end.kind === 'Lost') known.end = { ...known.end, seenMs };
  }

  podChanged(pod: Pod, old: Pod): void {
    const isDeleted = pod.metadata.deletionTimestamp !== undefined;
    if (isDeleted && old.metadata.deletionTimestamp === undefined) this.#lose(pod, true);
    const facts = podFacts(pod);
    // An agent that left the hub and announces on its Pod lives, and may be lost only later.
    if (facts?.epoch !== podFacts(old)?.epoch) this.#left.delete(pod.metadata.uid);
    const ended = facts?.notice?.ended;
    const isNews = facts?.notice?.epoch !== podFacts(old)?.notice?.epoch;
    if (facts?.notice === undefined || ended === undefined || !isNews) return;
    const told = { kind: 'Ended', ...this.#onOurClock(ended), isOverApi: true } as const;
    this.#note(pod, facts.notice.epoch, told);
  }

  /** A Pod does not live any more. */
  podGone(pod: Pod): void {
    const { uid, deletionTimestamp } = pod.metadata;
    this.#lose(pod, deletionTimestamp !== undefined);
    this.#left.delete(uid);
    if (this.#member(pod)?.group.pods.has(uid) !== true) this.#nodes.delete(uid);
  }

  podSucceeded(pod: Pod): void {
    const facts = podFacts(pod);
    const epoch = this.#epochOf(pod, facts);
    if (epoch === undefined || facts?.isDiscarded === true) return;
    this.#note(pod, epoch, { kind: 'Succeeded', atMs: this.#options.nowMs() });
  }

  /** Messages take no time that anybody knows. */
  #onOurClock(ended: EndedWorker): EndedWorker {
    return shifted(ended, this.#options.nowMs());
  }

  /** The node of a Pod that should have ended. */
  sawNode(podUid: string, node: string | undefined): void {
    if (node === undefined || this.#nodes.size >= MAX_PODS) return;
    this.#nodes.set(podUid, node);
  }

  /**
   * What we delete ourselves, with its Job, because the Job is suspended, or to replace it, is not
   * lost.
   */
  #lose(pod: Pod, isDeleted: boolean): void {
    const facts = podFacts(pod);
    const epoch = this.#epochOf(pod, facts);
    if (facts === undefined || epoch === undefined || facts.isDiscarded === true) return;
    const { avoidedNodes } = this.#statusOf(pod) ?? {};
    if (avoidedNodes?.some((left) => left.pod === facts.name) === true) return;
    const job = this.#options.jobWithUid(facts.jobUid);
    const isOurs = job?.metadata.deletionTimestamp !== undefined || job?.spec.suspend === true;
    if (job === undefined || isOurs) return;
    const nowMs = this.#options.nowMs();
    const seenMs = this.#left.get(facts.uid) ?? nowMs;
    this.#note(pod, epoch, { kind: 'Lost', seenMs, ...(isDeleted ? { deletedMs: nowMs } : {}) });
  }

  /**
   * The epoch in which its worker has run; undefined at the barrier. A Pod that goes away at the
   * barrier has not failed. Its report about the last epoch stays.
   */
  #epochOf(pod: Pod, facts: PodFacts | undefined): number | undefined {
    const spoken = this.#options.spokenEpoch(pod.metadata.uid) ?? 0;
    const epoch = Math.max(spoken, facts?.epoch ?? 0);
    const job = facts && this.#options.jobWithUid(facts.jobUid);
    const name = job?.metadata.labels?.[REPLICATED_JOB_NAME];
    const status = this.#statusOf(pod);
    const isReleased = name !== undefined && releasedEpoch(status, name) >= epoch;
    return epoch > 0 && isReleased ? epoch : undefined;
  }

  #statusOf(pod: Pod): JobSetStatus | undefined {
    const found = membershipOf(pod, this.#options.jobWithUid);
    return found.kind === 'Member' ? this.#options.statusOf(found.jobSet) : undefined;
  }

  #note(pod: Pod, epoch: number, told: MemberEnd): void {
    const { group, job } = this.#member(pod) ?? {};
    if (group === undefined || job === undefined || epoch < Math.max(1, group.floor)) return;
    const { uid } = pod.metadata;
    const before = group.pods.get(uid);
    if (before === undefined && group.pods.size >= MAX_PODS) return;
    const isKnown = before?.epoch === epoch && weight(before.end) >= weight(told);
    if (isKnown || (before !== undefined && before.epoch > epoch)) return;
    const place = placeIn(job, podFacts(pod)?.slot);
    if (place === undefined) return;
    if (before !== undefined) this.#drop(group, uid, before);
    const end = group.words < MAX_WORDS ? told : withoutWords(told);
    if (hasWords(end)) group.words++;
    const member = { ...place, pod: pod.metadata.name, podUid: uid };
    group.pods.set(uid, { epoch, member, end });
  }

  #drop(group: Group, uid: string, known: Known): void {
    if (hasWords(known.end)) group.words--;
    group.pods.delete(uid);
    this.#nodes.delete(uid);
  }

  #member(pod: Pod): { readonly group: Group; readonly job: Stored<Job> } | undefined {
    const found = membershipOf(pod, this.#options.jobWithUid);
    if (found.kind !== 'Member') return undefined;
    if (this.#options.statusOf(found.jobSet) === undefined) return undefined;
    const key = ownerKey(found.jobSet);
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { floor: 0, pods: new Map(), words: 0 };
      this.#groups.set(key, group);
    }
    return { group, job: found.job };
  }
}

/** What an agent tells is more than what the operator sees, and the hub's times are surer. */
function weight(end: MemberEnd): number {
  switch (end.kind) {
    case 'Ended':
      return end.isOverApi === true ? 3 : 4;
    case 'Succeeded':
      return 2;
    case 'Returned':
    case 'Lost':
      return 1;
  }
}

function hasWords(end: MemberEnd): boolean {
  return end.kind === 'Ended' && end.evidence.lastWords !== undefined;
}

function withoutWords(end: MemberEnd): MemberEnd {
  if (end.kind !== 'Ended') return end;
  const { lastWords: _, ...evidence } = end.evidence;
  return { ...end, evidence };
}
