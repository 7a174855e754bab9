/**
 * The Pods of every JobSet: one record for each Pod, and the counts of each group. The roster takes
 * events, and says which JobSet is worth another look: after a failure, the last arrival at a
 * barrier, or a change of a Pod that delays a release. Most announcements are not worth one. One event
 * of a Pod costs O(1).
 *
 * It has no clock, and calls nothing but its look-up of Jobs. Everything here is soft state: its loss may delay a release, and
 * never causes a release, an end or a charge.
 */

import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { JobSet } from '../jobset.ts';
import {
  identityOf,
  isSame,
  jobOf,
  type Membership,
  membershipOf,
  type Owner,
  ownerOf,
} from '../membership.ts';
import { EPOCH } from '../names.ts';
import { isGroup } from '../policies/restart-strategy.ts';
import { isTrue } from '../status/conditions.ts';
import type { Announcement } from '../worker-end/announcement.ts';
import { Claimants } from './claimants.ts';
import { Ends } from './ends.ts';
import { invalidIn } from './invalid-pod.ts';
import { MemberCounts, type Members } from './members.ts';
import { type PodFacts, podFacts } from './pod-facts.ts';
import type { AgentEvent, Moment, RosterEvent, RosterNews } from './roster-events.ts';
import { type GroupView, type PodRecord, type RosterGroup, recordIn } from './roster-group.ts';
import { RosterGroups } from './roster-groups.ts';
import { newestFacts, type Said, saidIn, saidLast } from './said.ts';
import { StrayStreams } from './stray-streams.ts';
import { GroupWatch, type Watchpoint } from './watch.ts';

type Pod = Stored<PartialObjectMetadata>;

export class Roster {
  readonly #jobWithUid: (uid: string) => Stored<Job> | undefined;
  /** By UID. */
  readonly #pods = new Map<string, PodRecord>();
  readonly #groups = new RosterGroups(this.#pods);
  /** Living Pods of unknown Jobs, and such Pods that have succeeded, perhaps the same. */
  readonly #claimants = new Claimants();
  readonly #succeeded = new Claimants();
  readonly #stray = new StrayStreams();
  readonly #ends: Ends;
  #now: Moment = { wallMs: 0, monotonicMs: 0 };
  #news: RosterNews[] | undefined;

  /** `jobWithUid` finds Jobs of all owners in all namespaces, as they are now. */
  constructor(jobWithUid: (uid: string) => Stored<Job> | undefined) {
    this.#jobWithUid = jobWithUid;
    this.#ends = new Ends(jobWithUid);
  }

  /** Returns what is to be passed on; mostly the same empty list. */
  apply(event: RosterEvent, now: Moment): readonly RosterNews[] {
    this.#now = now;
    this.#news = undefined;
    switch (event.kind) {
      case 'PodSeen':
        this.#podSeen(event.pod);
        break;
      case 'PodGone':
        this.#podGone(event.pod);
        break;
      case 'PodSucceeded':
      case 'SuccessSeen':
        this.#podSucceeded(event.pod, event.kind === 'PodSucceeded');
        break;
      case 'SuccessGone':
        this.#succeeded.remove(jobOf(event.pod)?.uid ?? '', event.pod.metadata.uid);
        break;
      case 'JobSeen':
        this.#jobSeen(event.job);
        break;
      case 'JobGone':
        this.#jobGone(event.job);
        break;
      case 'JobSetSeen':
        this.#jobSetSeen(event.jobSet, event.isOwn === true);
        break;
      case 'JobSetGone':
        this.#jobSetGone(event.jobSet);
        break;
      case 'NodeSeen':
        this.#nodeSeen(event.jobSet, event.podUid, event.node);
        break;
      case 'StreamOpened':
      case 'StreamClosed':
      case 'Announced':
      case 'Noticed':
      case 'WorkerSucceeded':
      case 'Reported':
        this.#heard(event);
    }
    return this.#news ?? NO_NEWS;
  }

  of(jobSet: Owner): GroupView {
    return this.#groups.view(jobSet);
  }

  groups(): Iterable<GroupView> {
    return this.#groups.values();
  }

  /** A living Pod of any group. */
  pod(uid: string): Readonly<PodRecord> | undefined {
    return this.#pods.get(uid);
  }

  /** Sets what `Look` is said for. Call it in the turn in which the counts were read. */
  watch(jobSet: Owner, watchpoint: Watchpoint | undefined): void {
    const group = watchpoint === undefined ? this.#groups.get(jobSet) : this.#groups.of(jobSet);
    if (group === undefined) return;
    group.watch = watchpoint && new GroupWatch(watchpoint, group.members);
    this.#groups.dropIfEmpty(group);
  }

  /** Counts a list of living Pods by itself, apart from what the watches show. */
  countAgain(jobSet: Owner, living: readonly Pod[], wallMs: number): Members {
    const counts = new MemberCounts();
    for (const pod of living) {
      const facts = podFacts(pod);
      if (facts === undefined || !isSame(this.#judge(pod)?.jobSet, jobSet)) continue;
      counts.observe(newestFacts(facts, this.#pods.get(facts.uid)?.said), wallMs);
    }
    return counts;
  }

  #podSeen(pod: Pod): void {
    const { uid, deletionTimestamp } = pod.metadata;
    const record = this.#pods.get(uid);
    const facts = podFacts(pod);
    if (deletionTimestamp !== record?.pod.metadata.deletionTimestamp) {
      this.#say({ kind: 'PodEnding', podUid: uid });
    }
    if (record !== undefined && facts !== undefined) this.#podChanged(record, pod, facts);
    this.#place(pod, facts, record);
  }

  /** A change of a living Pod, before it is counted. */
  #podChanged(record: PodRecord, pod: Pod, facts: PodFacts): void {
    const { pod: old } = record;
    this.#ends.podChanged(record, facts, this.#now.monotonicMs);
    const isMoving = pod.metadata.annotations?.[EPOCH] !== old.metadata.annotations?.[EPOCH];
    if (isMoving && record.said !== undefined && record.streams === 0) {
      this.#say({ kind: 'FellBack', podUid: record.uid });
    }
  }

  /** The counts of a living Pod that is new, has changed, or has to be judged again. */
  #place(pod: Pod, facts: PodFacts | undefined, known: PodRecord | undefined): void {
    const judged = facts === undefined ? undefined : this.#judge(pod);
    // Labels and owner references may change, so that it belongs elsewhere now.
    const hasMoved =
      known !== undefined &&
      (!isSame(judged?.jobSet, known.group.jobSet) || known.written.jobUid !== facts?.jobUid);
    if (hasMoved) this.#remove(known);
    for (const invalid of invalidIn(pod, judged === undefined ? undefined : facts)) {
      this.#say({ kind: 'InvalidPod', pod: invalid });
    }
    if (facts === undefined || judged === undefined) return;
    const isMember = judged.kind === 'Member';
    if (isMember) this.#claimants.remove(facts.jobUid, facts.uid);
    else this.#claimants.add(facts.jobUid, pod);
    const record =
      hasMoved || known === undefined ? this.#add(judged.jobSet, pod, facts, known) : known;
    Object.assign(record, { pod, written: facts, isMember });
    this.#observe(record);
  }

  #add(jobSet: Owner, pod: Pod, facts: PodFacts, known: PodRecord | undefined): PodRecord {
    const streams = this.#stray.take(facts.uid);
    const record = recordIn(this.#groups.of(jobSet), pod, facts, known, streams);
    this.#pods.set(record.uid, record);
    if (streams > 0) this.#sayOf('ReachChanged', record.group);
    return record;
  }

  #remove(record: PodRecord): void {
    const { uid, group, newest } = record;
    this.#pods.delete(uid);
    this.#claimants.remove(newest.jobUid, uid);
    this.#stray.put(uid, record.streams);
    if (record.streams > 0) this.#sayOf('ReachChanged', group);
    if (group.forget(record)) this.#sayOf('Look', group);
    this.#groups.dropIfEmpty(group);
  }

  #podGone(pod: Pod): void {
    const { uid } = pod.metadata;
    this.#say({ kind: 'PodGone', podUid: uid });
    const record = this.#pods.get(uid);
    if (record === undefined) return;
    const { monotonicMs } = this.#now;
    // The hub ends the stream only when it hears of this.
    if (record.streams > 0) this.#ends.left(record, monotonicMs);
    this.#ends.lose(record, podFacts(pod) ?? record.written, monotonicMs);
    this.#remove(record);
  }

  /** Success counts as soon as the Pod's Job is known, and not before. */
  #podSucceeded(pod: Pod, isNew: boolean): void {
    const facts = podFacts(pod);
    const judged = facts === undefined ? undefined : this.#judge(pod);
    if (facts === undefined || judged === undefined) return;
    if (judged.kind === 'Claimant') {
      this.#succeeded.add(facts.jobUid, pod);
      return;
    }
    this.#succeeded.remove(facts.jobUid, facts.uid);
    const group = this.#groups.of(judged.jobSet);
    group.members.observeSucceeded(facts);
    if (!isNew) return;
    const { said, node } = this.#pods.get(facts.uid) ?? {};
    this.#ends.podSucceeded({ group, isMember: true, said, node }, facts, this.#now.monotonicMs);
  }

  /**
   * Pods may have arrived before their Job. A suspended Job has counted its Pods: a success that it
   * lacks came too late.
   */
  #jobSeen(job: Stored<Job>): void {
    const { uid } = job.metadata;
    for (const pod of this.#claimants.take(uid)) this.#podSeen(pod);
    for (const pod of this.#succeeded.take(uid)) this.#podSucceeded(pod, false);
    if (isTrue(job.status?.conditions, 'Suspended')) this.#forgetSuccesses(job);
  }

  /** Pods of the Job that still live have to be judged again. */
  #jobGone(job: Stored<Job>): void {
    const group = this.#forgetSuccesses(job);
    const living = Array.from(group?.members.podsOfJob(job.metadata.uid) ?? []);
    for (const { uid } of living) {
      const record = this.#pods.get(uid);
      if (record !== undefined) this.#place(record.pod, record.written, record);
    }
  }

  #forgetSuccesses(job: Stored<Job>): RosterGroup | undefined {
    const owner = ownerOf(job);
    const group = owner && this.#groups.get(owner);
    group?.members.forgetJob(job.metadata.uid);
    if (group !== undefined) this.#groups.dropIfEmpty(group);
    return group;
  }

  /** Takes the newest state of the watch and of own writes. */
  #jobSetSeen(jobSet: Stored<JobSet>, isOwn: boolean): void {
    this.#say({ kind: 'NewState', jobSet });
    const owner = identityOf(jobSet);
    const runs = isGroup(jobSet);
    const group = runs ? this.#groups.of(owner) : this.#groups.get(owner);
    const { resourceVersion: version } = jobSet.metadata;
    if (group === undefined || group.isOutdated(version, isOwn)) return;
    if (runs) group.see(version, jobSet.status ?? {}, this.#now);
    else {
      group.forgetRun(version);
      this.#groups.dropIfEmpty(group);
    }
  }

  #jobSetGone(jobSet: Owner): void {
    const group = this.#groups.get(jobSet);
    if (group === undefined) return;
    group.watch = undefined;
    group.forgetRun(undefined);
    this.#groups.dropIfEmpty(group);
  }

  #nodeSeen(jobSet: Owner, podUid: string, node: string): void {
    const record = this.#pods.get(podUid);
    if (record !== undefined) record.node = node;
    this.#groups.get(jobSet)?.ends.sawNode(podUid, node);
  }

  #heard(event: AgentEvent): void {
    const record = this.#pods.get(event.podUid);
    if (record === undefined) {
      this.#stray.hear(event);
      return;
    }
    const { group } = record;
    const { monotonicMs } = this.#now;
    switch (event.kind) {
      case 'StreamOpened':
        if (group.opened(record)) this.#sayOf('ReachChanged', group);
        break;
      case 'StreamClosed':
        group.closed(record);
        this.#ends.left(record, event.seenMs);
        this.#sayOf('ReachChanged', group);
        break;
      case 'Announced':
        this.#ends.announced(record, event.announcement, monotonicMs);
        this.#announced(record, event.announcement);
        break;
      case 'Noticed':
        this.#said(record, { notice: { epoch: event.epoch } });
        break;
      case 'WorkerSucceeded':
        this.#ends.workerSucceeded(record, event.success, monotonicMs);
        break;
      case 'Reported': {
        const why = group.reports(record, event.progress, monotonicMs);
        const { jobSet } = group;
        if (why !== undefined) this.#say({ kind: 'StandbyOff', jobSet, pod: record.written, why });
        break;
      }
    }
  }

  #announced(record: PodRecord, announcement: Announcement): void {
    const { epoch } = announcement;
    if (epoch >= (record.said?.epoch ?? 0)) this.#said(record, saidIn(announcement));
    else this.#say({ kind: 'Outdated', podUid: record.uid, epoch });
  }

  #said(record: PodRecord, said: Said): void {
    record.said = saidLast(record.said, said);
    this.#observe(record);
  }

  #judge(pod: Pod): Exclude<Membership, { readonly kind: 'Stranger' }> | undefined {
    const found = membershipOf(pod, this.#jobWithUid);
    return found.kind === 'Stranger' ? undefined : found;
  }

  #observe(record: PodRecord): void {
    if (record.group.observe(record, this.#now.wallMs)) this.#sayOf('Look', record.group);
  }

  #sayOf(kind: 'Look' | 'ReachChanged', { jobSet: { namespace, name } }: RosterGroup): void {
    this.#say({ kind, jobSet: `${namespace}/${name}` });
  }

  #say(news: RosterNews): void {
    if (this.#news === undefined) this.#news = [news];
    else this.#news.push(news);
  }
}

const NO_NEWS: readonly RosterNews[] = [];
