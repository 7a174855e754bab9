/** What events say about the ends of workers (`docs/design/culprits.md#what-is-known`). */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { isSame, ownerOf } from '../membership.ts';
import { REPLICATED_JOB_NAME } from '../names.ts';
import { releasedEpoch } from '../status/epochs.ts';
import type { Announcement } from '../worker-end/announcement.ts';
import { shifted, type WorkerEnd } from '../worker-end/worker-end.ts';
import type { MemberEnd } from './group-evidence.ts';
import type { PodFacts } from './pod-facts.ts';
import type { PodRecord } from './roster-group.ts';
import { rankIn } from './worker-name.ts';

/** What an end needs of a Pod. A Pod that has succeeded need not have a record any more. */
type EndingPod = Pick<PodRecord, 'group' | 'isMember' | 'said' | 'node'>;

/** `nowMs` is monotonic everywhere. Messages take no time that anybody knows. */
export class Ends {
  readonly #jobWithUid: (uid: string) => Stored<Job> | undefined;

  constructor(jobWithUid: (uid: string) => Stored<Job> | undefined) {
    this.#jobWithUid = jobWithUid;
  }

  /** An announcement, judged by what the agent has said before it. */
  announced(record: PodRecord, { epoch, end }: Announcement, nowMs: number): void {
    const { written, leftMs } = record;
    record.leftMs = undefined;
    if (end !== undefined && end.how !== 'Unknown') {
      this.#note(record, written, end.epoch, endedAt(end, nowMs));
    } else if (leftMs !== undefined && this.#epochOf(record, written) === epoch - 1) {
      this.#note(record, written, epoch - 1, { kind: 'Returned', atMs: leftMs });
    }
  }

  /** The agent dates the success of its worker, which the Pod shows only later. */
  workerSucceeded(record: PodRecord, success: WorkerEnd, nowMs: number): void {
    const { epoch } = success;
    if (this.#epochOf(record, record.written) !== epoch) return;
    this.#note(record, record.written, epoch, endedAt(success, nowMs));
  }

  left(record: PodRecord, seenMs: number): void {
    record.leftMs = seenMs;
    record.group.ends.sawLost(record.uid, seenMs);
  }

  /** The annotations of a living Pod change to these. */
  podChanged(record: PodRecord, facts: PodFacts, nowMs: number): void {
    const { written } = record;
    if (facts.isTerminating && !written.isTerminating) this.lose(record, facts, nowMs);
    // An agent that left the hub and announces on its Pod lives, and may be lost only later.
    if (facts.epoch !== written.epoch) record.leftMs = undefined;
    const { notice } = facts;
    if (notice?.end === undefined || notice.end.how === 'Unknown') return;
    if (notice.epoch === written.notice?.epoch) return;
    const end = { ...endedAt(notice.end, nowMs), isOverApi: true } as const;
    this.#note(record, facts, notice.epoch, end);
  }

  /**
   * A Pod goes away. What we delete ourselves, with its Job, because the Job is suspended, or to
   * replace it, is not lost.
   */
  lose(record: PodRecord, facts: PodFacts, nowMs: number): void {
    const epoch = this.#epochOf(record, facts);
    if (epoch === undefined || facts.isDiscarded === true) return;
    const { avoidedNodes } = record.group.status ?? {};
    if (avoidedNodes?.some((left) => left.pod === facts.name) === true) return;
    const job = this.#jobWithUid(facts.jobUid);
    const isOurs = job?.metadata.deletionTimestamp !== undefined || job?.spec.suspend === true;
    if (job === undefined || isOurs) return;
    const deleted = facts.isTerminating ? { deletedMs: nowMs } : {};
    this.#note(record, facts, epoch, { kind: 'Lost', seenMs: record.leftMs ?? nowMs, ...deleted });
  }

  podSucceeded(pod: EndingPod, facts: PodFacts, nowMs: number): void {
    const epoch = this.#epochOf(pod, facts);
    if (epoch === undefined || facts.isDiscarded === true) return;
    this.#note(pod, facts, epoch, { kind: 'Succeeded', atMs: nowMs });
  }

  /**
   * The epoch in which the worker of a Pod has run; undefined at the barrier. A Pod that goes away at
   * the barrier has not failed. Its report about the last epoch stays.
   */
  #epochOf({ group, isMember, said }: EndingPod, facts: PodFacts): number | undefined {
    const { status } = group;
    const epoch = Math.max(said?.epoch ?? 0, facts.epoch ?? 0);
    const name = this.#jobWithUid(facts.jobUid)?.metadata.labels?.[REPLICATED_JOB_NAME];
    if (!isMember || epoch === 0 || name === undefined || status === undefined) return undefined;
    return releasedEpoch(status, name) >= epoch ? epoch : undefined;
  }

  #note(pod: EndingPod, facts: PodFacts, epoch: number, end: MemberEnd): void {
    const { group, isMember, node } = pod;
    const job = this.#jobWithUid(facts.jobUid);
    if (job === undefined || !isMember || group.status === undefined) return;
    // Owner references may change, and then the end is not one of this group.
    if (!isSame(ownerOf(job), group.jobSet)) return;
    const rank = rankIn(job, facts.slot);
    if (rank === undefined) return;
    const member = { ...rank, pod: facts.name, podUid: facts.uid };
    group.ends.note(epoch, node === undefined ? member : { ...member, node }, end);
  }
}

function endedAt(end: WorkerEnd, nowMs: number): MemberEnd & { readonly kind: 'Ended' } {
  return { kind: 'Ended', ...shifted(end, nowMs) };
}
