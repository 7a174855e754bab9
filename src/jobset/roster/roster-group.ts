/** What is known of the Pods of one JobSet, and what its next decision waits for. */

import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import { isOlder } from '@lockstep/kube/resource-version.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import type { Owner } from '../membership.ts';
import { type GroupProgress, groupProgress, type MemberSteps } from '../progress/group-progress.ts';
import type { Progress } from '../progress/progress.ts';
import { hasNoStandbys, WHY_NO_STANDBYS } from '../progress/standby.ts';
import { GroupEnds } from './group-ends.ts';
import type { MemberEvidence } from './group-evidence.ts';
import { GroupWork } from './group-work.ts';
import { MemberCounts, type Members } from './members.ts';
import type { PodFacts } from './pod-facts.ts';
import type { Moment } from './roster-events.ts';
import { newestFacts, type Said } from './said.ts';
import { StepReport } from './steps.ts';
import type { GroupWatch } from './watch.ts';

/** All that is known of one living Pod of a group. Only the roster changes it. */
export interface PodRecord {
  readonly uid: string;
  readonly group: RosterGroup;
  /** As the watch of living Pods shows it. */
  pod: Stored<PartialObjectMetadata>;
  /** What its annotations say. */
  written: PodFacts;
  /** What its agent has said over the hub; it outlives the stream. */
  said: Said | undefined;
  /** The newest of both: this is what is counted. */
  newest: PodFacts;
  /** False if its Job is unknown: then the Pod only holds up a release. */
  isMember: boolean;
  /** Open streams of its agent: two for a moment, when the agent connects again. */
  streams: number;
  /**
   * When an agent that left the hub was last known to live, until it announces again (monotonic).
   */
  leftMs: number | undefined;
  /** What its worker has reported of its steps. */
  steps: StepReport | undefined;
  /** Known of a Pod that was read because it should have ended. */
  node: string | undefined;
}

/** A record in that group; `known` is the record of the same Pod in another group. */
export function recordIn(
  group: RosterGroup,
  pod: Stored<PartialObjectMetadata>,
  facts: PodFacts,
  known: PodRecord | undefined,
  streams: number,
): PodRecord {
  group.streams += streams;
  const { said, leftMs, steps, node } = known ?? {};
  const now = { pod, written: facts, newest: facts, isMember: false };
  return { uid: facts.uid, group, ...now, said, streams, leftMs, steps, node };
}

/** A live view: it changes with the roster. */
export interface GroupView {
  readonly members: Members;
  /** Open streams of its agents. */
  readonly streams: number;
  /** From the release of the running epoch to the first step, in ms; undefined: not known (yet). */
  readonly startMs: number | undefined;
  /** Members whose worker ran in that epoch, and of whose end something is known. */
  endsIn(epoch: number): readonly MemberEvidence[];
  /** The ends of members in epochs before that one are recorded in the status. */
  settle(epoch: number): void;
  /** The living members, without Pods of unknown Jobs. */
  pods(): Iterable<Readonly<PodRecord>>;
  /** What the workers of members with a stream report, at that monotonic time. */
  steps(nowMs: number): readonly MemberSteps[];
  /** How far the group is, at that monotonic time. */
  reported(nowMs: number): GroupProgress;
}

/** The roster changes it; others see a `GroupView`. */
export class RosterGroup implements GroupView {
  readonly jobSet: Owner;
  readonly members = new MemberCounts();
  ends = new GroupEnds();
  work = new GroupWork();
  watch: GroupWatch | undefined;
  /** The newest status; undefined: the JobSet is over, gone, or was not seen yet. */
  status: JobSetStatus | undefined;
  /** The resourceVersion of the newest JobSet that was seen. */
  version: string | undefined;
  /** The resourceVersion that the watch showed last. */
  #watched: string | undefined;
  streams = 0;
  readonly #records: ReadonlyMap<string, PodRecord>;

  /** `records` are the records of all groups, by UID of the Pod. */
  constructor(jobSet: Owner, records: ReadonlyMap<string, PodRecord>) {
    this.jobSet = jobSet;
    this.#records = records;
  }

  get startMs(): number | undefined {
    return this.work.startMs;
  }

  endsIn(epoch: number): readonly MemberEvidence[] {
    return this.ends.in(epoch);
  }

  settle(epoch: number): void {
    this.ends.settle(epoch);
  }

  *pods(): Iterable<PodRecord> {
    for (const { uid } of this.members.pods()) {
      const record = this.#records.get(uid);
      if (record?.isMember === true) yield record;
    }
  }

  steps(nowMs: number): readonly MemberSteps[] {
    if (this.streams === 0) return [];
    const found: MemberSteps[] = [];
    for (const { streams, steps } of this.pods()) {
      if (streams > 0 && steps !== undefined) found.push(steps.at(nowMs));
    }
    return found;
  }

  reported(nowMs: number): GroupProgress {
    // A member may still report the epoch before, and one that is gone may have reported the most.
    const { firstStepMs: _, checkpointMs: __, ...living } = groupProgress(this.steps(nowMs));
    return { ...living, ...this.work.at(nowMs) };
  }

  /** Counts a living Pod as it is now. True if that makes the JobSet worth a look. */
  observe(record: PodRecord, wallMs: number): boolean {
    const newest = newestFacts(record.written, record.said);
    record.newest = newest;
    return this.#change(newest.jobUid, () => this.members.observe(newest, wallMs), newest);
  }

  /** A Pod does not live any more, or belongs elsewhere. True if the JobSet is worth a look. */
  forget({ newest, streams }: PodRecord): boolean {
    this.streams -= streams;
    return this.#change(newest.jobUid, () => this.members.forget(newest.uid), undefined);
  }

  /** A stream of the agent is open. True if it is the first of the group. */
  opened(record: PodRecord): boolean {
    record.streams++;
    this.streams++;
    return this.streams === 1;
  }

  closed(record: PodRecord): void {
    if (record.streams === 0) return;
    record.streams--;
    this.streams--;
  }

  /** Returns why the Pod gets no standbys any more, if its agent did not say so before. */
  reports(record: PodRecord, progress: Progress | undefined, nowMs: number): string | undefined {
    const { steps } = record;
    const before = steps?.standby;
    if (progress === undefined) {
      record.steps = undefined;
      return undefined;
    }
    if (steps === undefined) record.steps = new StepReport(progress, nowMs);
    else steps.take(progress, nowMs);
    this.work.take(progress, nowMs);
    const isNews = progress.standby !== before && hasNoStandbys(progress);
    return isNews ? WHY_NO_STANDBYS[progress.standby] : undefined;
  }

  /** Changes the counts of one Job. */
  #change(jobUid: string, change: () => boolean, pod: PodFacts | undefined): boolean {
    const { members, watch } = this;
    const before = watch?.countsOf(jobUid, members);
    const hadEnding = members.hasEnding;
    if (!change() || watch === undefined || before === undefined) return false;
    const wasFull = watch.isFull();
    watch.move(before, watch.countsOf(jobUid, members));
    // A Pod that is in the way then, and is not ending, has to be reported.
    const isJustFull = watch.isFull() && !wasFull;
    // The first deleted Pod is looked at when it is overdue, with all others by then.
    const isFirstOrLast = hadEnding !== members.hasEnding;
    return watch.isNews(pod) || isJustFull || watch.isComplete() || isFirstOrLast;
  }

  /**
   * Whether a state of the JobSet is older than a known one. The watch goes back to an older version
   * only if the API server was restored from a backup, and then the older version counts.
   */
  isOutdated(version: string, isOwn: boolean): boolean {
    const watched = this.#watched;
    if (!isOwn) this.#watched = version;
    if (!isOwn && watched !== undefined && isOlder(version, watched)) return false;
    return this.version !== undefined && isOlder(version, this.version);
  }

  /** Takes a newer status of a JobSet that runs. */
  see(version: string, status: JobSetStatus, { monotonicMs, wallMs }: Moment): void {
    this.version = version;
    this.status = status;
    this.work.see(status, monotonicMs, wallMs);
  }

  /** The JobSet is over since that version, or gone. */
  forgetRun(version: string | undefined): void {
    this.version = version;
    this.status = undefined;
    this.ends = new GroupEnds();
    this.work = new GroupWork();
  }

  isEmpty(): boolean {
    return this.watch === undefined && this.status === undefined && this.members.isEmpty();
  }
}
