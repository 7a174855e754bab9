/** The data of `lockstep status JOBSET`: a JobSet and its members at one time. */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { Condition, Stored } from '@lockstep/kube/meta.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { groupSize } from '../epoch/group-state.ts';
import { backoffEndMs } from '../epoch/restart-history.ts';
import { type GoodputAt, goodputAt } from '../goodput/goodput-at.ts';
import type { MemberReport } from '../hub/member-report.ts';
import type { JobSet } from '../jobset.ts';
import type { AvoidedNode, GroupRanks, RestartRecord } from '../jobset-status.ts';
import { REPLICATED_JOB_NAME } from '../names.ts';
import { asRecorded } from '../overrides/recorded-annotations.ts';
import { keptUntilMs } from '../policies/keep-failed.ts';
import {
  type GroupProgress,
  groupProgress,
  type MemberSteps,
  rateOf,
} from '../progress/group-progress.ts';
import type { Progress } from '../progress/progress.ts';
import { checkedRanks } from '../ranks/group-ranks.ts';
import { podRanks } from '../ranks/pod-ranks.ts';
import { type PodFacts, podFacts } from '../roster/pod-facts.ts';
import { podHold } from '../roster/pod-hold.ts';
import { rankOf } from '../roster/short-names.ts';
import { FOR_TOOLS, isTrue } from '../status/conditions.ts';
import { epochsOf, releasedEpoch } from '../status/epochs.ts';
import { hasEpochs, type JobSetState, jobSetState } from './jobset-state.ts';
import { type LastCause, lastCauseOf } from './last-cause.ts';
import { lastFailureOf, type OverviewFailure } from './overview.ts';
import { type ReportedRestart, reportedRestarts } from './reported-restarts.ts';
import { type RestartBudget, restartBudget } from './restart-budget.ts';
import { restoreWarning } from './restore-warning.ts';
import { type Seen, type ShownState, shownState } from './shown-state.ts';
import { silenceHeard } from './silence.ts';

/**
 * It combines the API server's objects with the hub's announcements. `-o json` prints it as it is;
 * the other forms render it.
 */
export interface StatusView {
  readonly jobSet: JobSetView;
  /** By ReplicatedJob, Job and index. */
  readonly members: readonly MemberView[];
  /** Why the hub was not asked though there is one: then epochs may be missing. */
  readonly problem?: string;
  /** Why Pods are not made; absent: they are, or no Event that the user may read says why. */
  readonly refusal?: PodRefusal;
}

/** The newest Event of a Job that warns while its Pods are not made. */
export interface PodRefusal {
  readonly job: string;
  readonly reason: string;
  readonly message: string;
  readonly timeMs: number;
}

export interface JobSetView extends RestartBudget {
  readonly namespace: string;
  readonly name: string;
  readonly state: JobSetState;
  /** Its state in words, with details. */
  readonly shown: ShownState;
  /**
   * The current epoch, for which members gather; null for a JobSet that does not restart in place.
   */
  readonly epoch: number | null;
  /**
   * The running epoch, as `kubectl get` shows it: the previous one until the current one is
   * released.
   */
  readonly syncedEpoch: number | null;
  /** ReplicatedJobs that run in the current epoch while others still gather; absent: none. */
  readonly releasedFirst?: readonly string[];
  /** How many of the expected members have announced the current epoch. */
  readonly announced: number;
  readonly size: number;
  /** How many ReplicatedJobs the JobSet has. If several, names of members begin with one. */
  readonly replicatedJobs: number;
  /**
   * Until when a crash loop holds the next epoch back, in Unix milliseconds; null: it is not held
   * back. The time may be over while members are missing.
   */
  readonly backoffEndMs: number | null;
  /** The JobSet has failed, and its Pods stay without workers until then, in Unix milliseconds. */
  readonly keptUntilMs?: number;
  /** Restarts for failures, without those for a user's request or a change of the size. */
  readonly inPlaceRestarts: number;
  readonly restarts: number;
  /** Null if no member reports any. */
  readonly progress: GroupProgress | null;
  /** Conditions that are True and may need a person's action. */
  readonly conditions: readonly ConditionView[];
  /** The newest first. */
  readonly restartHistory: readonly ReportedRestart[];
  /** As in the list; null: none is recorded. */
  readonly lastFailure: OverviewFailure | null;
  /** What became of the JobSet's time; null: the operator does not account for it. */
  readonly goodput: GoodputAt | null;
  /** Why workers may not have loaded the newest checkpoint; null: they probably have. */
  readonly restoreWarning: string | null;
  /** The newest first. */
  readonly avoidedNodes: readonly AvoidedNode[];
}

export interface ConditionView {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

export interface MemberView {
  /** The rank: `5`, or `workers/5` if there are several ReplicatedJobs; else the Pod's name. */
  readonly label: string;
  readonly replicatedJob: string;
  readonly job: string;
  /** Completion index; null in a Job without. */
  readonly index: string | null;
  readonly pod: string;
  readonly node: string | null;
  /** The Node object is not ready, or gone; false too if it may not be read. */
  readonly isNodeLost: boolean;
  /** The Pod's phase, or `Terminating`. */
  readonly phase: string;
  /**
   * Why the Pod does not run, such as `Unschedulable` or `ErrImagePull`; null: it runs, or will
   * soon.
   */
  readonly heldBy: string | null;
  /** The worker has ended because the JobSet failed, and the Pod stays for a while. */
  readonly isKept?: true;
  /** The newest epoch that the Pod announced; null: none. */
  readonly epoch: number | null;
  /** The channel that the agent uses; null: none at the moment. */
  readonly channel: 'Hub' | 'API' | null;
  /** Why the worker ended last; null: no failure is known. */
  readonly lastCause: LastCause | null;
  /** The ranks that its agent starts, by `status.ranks`; absent: it starts none. */
  readonly ranks?: { readonly first: number; readonly count: number };
  /** What the worker, or the last one while none runs, has reported; null: it reported nothing. */
  readonly progress: ProgressView | null;
}

/** Members are absent where the worker does not report them. */
export interface ProgressView extends Progress {
  /** Over the last one to two minutes. */
  readonly stepsPerSecond?: number;
}

/**
 * `reports` come from the hub; undefined: it could not be asked, or there is none. `notReady` are
 * names of nodes. Time is accounted for up to `nowMs`, and always up to the last status write.
 */
export function statusView(
  jobSet: Stored<JobSet>,
  pods: readonly Stored<Pod>[],
  reports: readonly MemberReport[] | undefined,
  notReady: ReadonlySet<string> = new Set(),
  nowMs = 0,
): StatusView {
  const byPod = new Map(reports?.map((report) => [report.pod, report]));
  const history = jobSet.status?.restartHistory ?? [];
  const steps = reports?.flatMap((report) => report.progress ?? []) ?? [];
  const progress = groupProgress(steps);
  const keptMs = keptUntil(jobSet);
  const ranks = checkedRanks(jobSet.status?.ranks);
  const members = pods
    .map((pod) => {
      const report = byPod.get(pod.metadata.name);
      return {
        label: rankOf(jobSet, pod).label,
        ...memberView(pod, report, history, notReady),
        ...defined({ ranks: ranksOf(pod, ranks) }),
        ...(keptMs !== undefined && isKept(pod) ? { isKept: true as const } : {}),
        progress: progressView(report?.progress),
      };
    })
    .sort((a, b) => orderOf(a).localeCompare(orderOf(b), 'en', { numeric: true }));
  const goodput = goodputAt(jobSet, nowMs, reports && progress) ?? null;
  const warning = restoreWarning(jobSet, progress, nowMs) ?? null;
  const added = { restoreWarning: warning, ...defined({ keptUntilMs: keptMs }) };
  const view = { ...jobSetView(jobSet, members), goodput, ...added };
  const started = pods.filter(hasStarted).length;
  const silence = silenceHeard(jobSet, reports, nowMs);
  const seen = { started, announced: view.announced, silence, ...heldMember(members) };
  const shown = shownState(jobSet, seen, nowMs);
  return { jobSet: { ...view, shown, progress: steps.length === 0 ? null : progress }, members };
}

/** The first member that does not start. A member of an old run may be held for good reasons. */
function heldMember(members: readonly MemberView[]): Pick<Seen, 'held'> {
  const held = members.find(({ heldBy, phase }) => heldBy !== null && phase !== 'Failed');
  if (held === undefined || held.heldBy === null) return {};
  return { held: { reason: held.heldBy, why: `Pod ${held.pod} does not start: ${held.heldBy}` } };
}

/** Undefined, too, if no agent was told to stop its worker. */
function keptUntil(jobSet: Stored<JobSet>): number | undefined {
  const { deprecated, synced } = epochsOf(jobSet.status ?? {});
  const haveStopped = jobSetState(jobSet) === 'Failed' && hasEpochs(jobSet) && synced <= deprecated;
  return haveStopped ? keptUntilMs(asRecorded(jobSet)) : undefined;
}

function isKept({ metadata, status }: Stored<Pod>): boolean {
  return status?.phase === 'Running' && metadata.deletionTimestamp === undefined;
}

function hasStarted({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || isTrue(status?.conditions, 'Ready');
}

function progressView(of: MemberSteps | undefined): ProgressView | null {
  if (of === undefined) return null;
  const { recent, startMs: _, ...progress } = of;
  return { ...progress, ...(recent === undefined ? {} : { stepsPerSecond: rateOf(recent) }) };
}

function orderOf({ replicatedJob, job, index, pod }: MemberView): string {
  return `${replicatedJob}/${job}/${index ?? ''}/${pod}`;
}

function jobSetView(
  jobSet: Stored<JobSet>,
  members: readonly MemberView[],
): Omit<JobSetView, 'progress' | 'goodput' | 'restoreWarning' | 'shown'> {
  const { metadata, status = {} } = jobSet;
  const { deprecated, synced } = epochsOf(status);
  const isInPlace = hasEpochs(jobSet);
  const epoch = isInPlace ? deprecated + 1 : null;
  const announced = members.filter((member) => epoch !== null && member.epoch === epoch).length;
  const size = groupSize(jobSet);
  const names = isInPlace && synced <= deprecated ? jobSet.spec.replicatedJobs : [];
  const first = names
    ?.map(({ name }) => name)
    .filter((name) => releasedEpoch(status, name) === epoch);
  return {
    namespace: namespaceOf(metadata),
    name: metadata.name,
    state: jobSetState(jobSet),
    epoch,
    syncedEpoch: isInPlace ? synced : null,
    ...(first === undefined || first.length === 0 ? {} : { releasedFirst: first }),
    announced,
    size,
    backoffEndMs: backoffEndMs(jobSet) ?? null,
    inPlaceRestarts: status.inPlaceRestarts ?? 0,
    restarts: status.restarts ?? 0,
    ...restartBudget(jobSet),
    conditions: telling(status.conditions ?? [], announced >= size),
    restartHistory: reportedRestarts(jobSet),
    replicatedJobs: jobSet.spec.replicatedJobs?.length ?? 0,
    lastFailure: lastFailureOf(jobSet),
    avoidedNodes: status.avoidedNodes ?? [],
  };
}

const UNTELLING: readonly string[] = [
  ...FOR_TOOLS,
  'Completed',
  'Suspended',
  'StartupPolicyInProgress',
  'StartupPolicyCompleted',
];

/**
 * Leaves out the condition of a restart, which repeats the history. It stays if the group waits
 * although all members have announced: it says for what they wait.
 */
function telling(
  conditions: readonly Condition[],
  haveAllAnnounced: boolean,
): readonly ConditionView[] {
  return conditions
    .filter(({ type, status }) => status === 'True' && !UNTELLING.includes(type))
    .filter(({ type }) => type !== RESTARTING_IN_PLACE || haveAllAnnounced)
    .map(({ type, reason, message }) => ({ type, reason, message }));
}

const RESTARTING_IN_PLACE = 'RestartingInPlace';

function memberView(
  pod: Stored<Pod>,
  report: MemberReport | undefined,
  history: readonly RestartRecord[],
  notReady: ReadonlySet<string>,
): Omit<MemberView, 'progress' | 'label'> {
  const { metadata, spec, status } = pod;
  const facts = podFacts(pod);
  const isEnding = metadata.deletionTimestamp !== undefined;
  return {
    replicatedJob: metadata.labels?.[REPLICATED_JOB_NAME] ?? '',
    job: facts?.jobName ?? '',
    index: facts?.slot ?? null,
    pod: metadata.name,
    node: spec.nodeName ?? null,
    isNodeLost: spec.nodeName !== undefined && notReady.has(spec.nodeName),
    phase: isEnding ? 'Terminating' : (status?.phase ?? 'Unknown'),
    heldBy: isEnding ? null : (podHold(pod)?.reason ?? null),
    epoch: report?.epoch ?? facts?.epoch ?? null,
    channel: report === undefined ? written(facts) : report.channel,
    lastCause: lastCauseOf(metadata.name, report, facts?.notice, history),
  };
}

function ranksOf(pod: Pod, ranks: GroupRanks | undefined): MemberView['ranks'] {
  const own = ranks && podRanks(ranks, pod);
  return own && { first: own.firstRank, count: own.processes };
}

/** For an agent that uses no hub. */
function written(facts: PodFacts | undefined): 'API' | null {
  return facts?.epoch === undefined ? null : 'API';
}
