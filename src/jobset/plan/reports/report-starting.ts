/**
 * Says why members of a group do not start: no node has room, an image cannot be pulled, a quota
 * forbids more Pods. The cache holds no status of Pods. So the operator reads one Pod at a time, and
 * only if members are missing for longer than a restart takes.
 */
import { type Condition, namespaceOf, type Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { printable } from '@lockstep/kube/quote.ts';
import { isSuspended } from '../../child-jobs/child-jobs.ts';
import type { PodFacts } from '../../roster/pod-facts.ts';
import { cleared, isFinished } from '../../status/conditions.ts';
import type { Decision } from '../decision.ts';
import { type Facts, type GroupFacts, isOfGroup } from '../facts.ts';
import type { AnswerOf, Question } from '../questions.ts';
import type { MissingState, StartLook } from '../snapshot.ts';

/** From one read of a Pod to the next. */
const START_LOOK_MS = 10_000;
/** A restart in place is faster, so it costs no read. */
export const START_PATIENCE_MS = 5000;
/** The Job controller waits about 10 s before it replaces a Pod that failed. */
const REPLACEMENT_PATIENCE_MS = 20_000;
/** After this time, the condition may report something else. */
const STEADY_MS = 60_000;
/** After this many reads in a row without a waiting Pod, the condition is cleared. */
export const CALM_LOOKS = STEADY_MS / START_LOOK_MS;
/** Between two reads when all Pods were read once, because they may never become ready. */
export const MAX_START_LOOK_MS = 300_000;
/** The least wait until a plan may ask, if this plan has other decisions. */
const BUSY_MS = 1000;
/** Pods of a Job that are read in turn. */
const MAX_CANDIDATES = 64;

const TYPE = 'MemberNotStarting';

/** `mayAsk`: the plan has no other decision that a question would delay. */
export function reportStarting(facts: Facts, mayAsk: boolean): readonly Decision[] {
  const { startLook, spec, status, answer } = facts;
  if (startLook === undefined) return [];
  const told = status.conditions?.find(({ type, status }) => type === TYPE && status === 'True');
  const isWanted = !spec.suspend && !isFinished(status.conditions);
  const missing = isWanted && isOfGroup(facts) ? missingMembers(facts, told) : undefined;
  if (missing === undefined || !isOfGroup(facts)) {
    return [{ conditions: [cleared(TYPE, 'NoneMissing', 'no member waits to start')] }];
  }
  const { noPod, unannounced } = missing;
  const lacks = { missing: stateOf(missing, facts) } as const;
  const dueMs = START_PATIENCE_MS - startLook.missingForMs;
  if (dueMs > 0) return [{ ...lacks, requeueAfterMs: dueMs }];
  if (noPod !== undefined && (unannounced === undefined || isAboutJob(told, noPod.job))) {
    return [{ ...lacks, ...withoutPod(noPod, startLook, told) }];
  }
  const heldPod = answer({ kind: 'HeldPod', pod: undefined });
  const nextLookMs = lookEveryMs(missing, facts, startLook) - startLook.sinceLookMs;
  if (heldPod !== undefined) {
    const again = { ...lacks, requeueAfterMs: nextLookMs } as const;
    const isLacking = noPod !== undefined && startLook.noPodForMs >= STEADY_MS;
    if (heldPod.hold === undefined && isLacking) return [{ ...again, ...lacking(noPod) }];
    return [{ ...again, ...held(heldPod, startLook, told) }];
  }
  if (nextLookMs > 0 || !mayAsk) {
    return [{ ...lacks, requeueAfterMs: Math.max(BUSY_MS, nextLookMs) }];
  }
  return [{ question: questionAbout(missing, facts, startLook, told) }];
}

/** What is missing, at least one of these. It comes from counts of Jobs, never of Pods. */
interface Missing {
  /** A Pod of the Job has not announced the epoch. */
  readonly unannounced?: Stored<Job> | undefined;
  /** The Job has fewer Pods than it should. */
  readonly noPod?: LackingJob | undefined;
  /** The epoch is released, and Pods of the Job are not ready: perhaps a worker does not start. */
  readonly unready?: Stored<Job> | undefined;
}

interface LackingJob {
  readonly job: Stored<Job>;
  readonly count: number;
}

/** Undefined: all members are there. The Job that the condition names comes first. */
function missingMembers(
  { group, members }: GroupFacts,
  told: Condition | undefined,
): Missing | undefined {
  let unannounced: Stored<Job> | undefined;
  let noPod: LackingJob | undefined;
  let unready: Stored<Job> | undefined;
  for (const { isComplete, jobs, parallelism, released, succeededIn } of group.stages) {
    if (isComplete) continue;
    for (const job of jobs) {
      if (isSuspended(job) || job.status?.startTime == null) continue;
      const pods = members.ofJob(job.metadata.uid);
      const { live = 0, terminating = 0 } = pods ?? {};
      const announced = pods?.liveAt(group.epoch) ?? 0;
      const succeeded = succeededIn(job).size;
      if (announced + succeeded >= parallelism) {
        const { ready = 0, active = 0 } = job.status;
        if (released === group.epoch && ready < active) unready ??= job;
        continue;
      }
      if (live > announced) unannounced ??= job;
      const count = parallelism - live - terminating - succeeded;
      if (count > 0 && (noPod === undefined || isAboutJob(told, job))) noPod = { job, count };
    }
  }
  if ((unannounced ?? noPod ?? unready) === undefined) return undefined;
  return { unannounced, noPod, unready };
}

/** A change of this state is worth a read soon. Reads become rare while only readiness is missing. */
function stateOf(missing: Missing, { group }: GroupFacts): MissingState {
  const { unready: job } = missing;
  const isOnlyUnready = job !== undefined && isUnready(missing);
  const key = isOnlyUnready
    ? `${job.metadata.uid}/${group.epoch}/${job.status?.ready ?? 0}`
    : 'Unannounced';
  return { key, lacksPods: missing.noPod !== undefined };
}

function isUnready({ unannounced, noPod }: Missing): boolean {
  return unannounced === undefined && noPod === undefined;
}

function lookEveryMs(missing: Missing, { members }: GroupFacts, { idleLooks }: StartLook): number {
  const { unready } = missing;
  if (unready === undefined || !isUnready(missing)) return START_LOOK_MS;
  const { live = 0 } = members.ofJob(unready.metadata.uid) ?? {};
  // Each Pod after a look for one that is `Pending`.
  const round = 2 * Math.min(live, MAX_CANDIDATES);
  return Math.min(START_LOOK_MS * 2 ** Math.max(0, idleLooks - round), MAX_START_LOOK_MS);
}

/**
 * The Pod that the condition names is read again while it is among the candidates, so that the
 * condition does not change with each look. Otherwise they take turns. Among Pods that have
 * announced the epoch, one that is `Pending` is looked for first.
 */
function questionAbout(
  { unannounced, unready }: Missing,
  { group, members }: GroupFacts,
  { looks }: StartLook,
  told: Condition | undefined,
): Question {
  const candidates: PodFacts[] = [];
  for (const pod of members.podsOfJob((unannounced ?? unready)?.metadata.uid ?? '')) {
    if (pod.isTerminating || (unannounced !== undefined && pod.epoch === group.epoch)) continue;
    if (told !== undefined && isAbout(told, pod.name)) return { kind: 'HeldPod', pod };
    if (candidates.length < MAX_CANDIDATES) candidates.push(pod);
  }
  if (unannounced === undefined && looks % 2 === 0) return { kind: 'HeldPod', pod: undefined };
  const turn = unannounced === undefined ? (looks - 1) / 2 : looks;
  return { kind: 'HeldPod', pod: candidates[turn % Math.max(1, candidates.length)] };
}

function held(
  { name, hold }: AnswerOf['HeldPod'],
  { calmLooks }: StartLook,
  told: Condition | undefined,
): Decision {
  if (name === undefined || hold === undefined) {
    if (told === undefined) return {};
    const isUp = name !== undefined && isAbout(told, name) && !CRASHES.includes(told.reason);
    if (isUp) return { conditions: [cleared(TYPE, 'Starting', `Pod ${name} starts`)] };
    if (calmLooks < CALM_LOOKS) return {};
    return { conditions: [cleared(TYPE, 'Starting', 'no member was seen waiting for a minute')] };
  }
  const reason = REASON.test(hold.reason) ? hold.reason : 'Waiting';
  if (told !== undefined && isAbout(told, name) && isSame(told.reason, reason)) return {};
  const where = hold.container === undefined ? '' : ` in container ${hold.container}`;
  const why = hold.message === undefined ? '' : `: ${printable(hold.message)}`;
  const message = `Pod ${name} does not start: ${reason}${where}${why}`;
  return { conditions: [{ type: TYPE, status: 'True', reason, message, event: 'Warning' }] };
}

/** A Pod may fail and be recreated many times. The condition does not follow each of its states. */
function withoutPod(
  noPod: LackingJob,
  { noPodForMs }: StartLook,
  told: Condition | undefined,
): Decision {
  if (isAboutJob(told, noPod.job)) return { requeueAfterMs: START_LOOK_MS };
  const hasFailed = (noPod.job.status?.failed ?? 0) > 0;
  const patienceMs = hasFailed ? REPLACEMENT_PATIENCE_MS : START_PATIENCE_MS;
  const dueMs = (told === undefined ? patienceMs : STEADY_MS) - noPodForMs;
  return dueMs > 0 ? { requeueAfterMs: dueMs } : lacking(noPod);
}

function lacking({ job, count }: LackingJob): Decision {
  const { name } = job.metadata;
  const lacks = count === 1 ? 'a Pod' : `${count} Pods`;
  const message =
    `Job ${name} lacks ${lacks} that Kubernetes did not make, as when a quota or a webhook refuses it; ` +
    `the Events of the Job say why: kubectl describe job ${name} -n ${namespaceOf(job.metadata)}`;
  const conditions = [
    { type: TYPE, status: 'True', reason: NO_POD, message, event: 'Warning' },
  ] as const;
  return { conditions, requeueAfterMs: START_LOOK_MS };
}

/** The Job that the condition names because Kubernetes does not make its Pods. */
export function jobWithoutPods(conditions: readonly Condition[] | undefined): string | undefined {
  const told = conditions?.find(({ type, reason }) => type === TYPE && reason === NO_POD);
  return told?.status === 'True' ? /^Job ([a-z0-9.-]+) lacks /.exec(told.message)?.[1] : undefined;
}

const NO_POD = 'PodNotCreated';
/** The container ends at once, and between two tries it seems to run for a moment. */
const CRASHES: readonly string[] = ['CrashLoopBackOff', 'RunContainerError', 'PostStartHookError'];
/** A node tries again and again, and reports the reasons of one row in turn. */
const TOLD_IN_TURN: readonly (readonly string[])[] = [
  CRASHES,
  ['ErrImagePull', 'ImagePullBackOff'],
];
/** A reason that the API server accepts for a condition, and that a person can read. */
const REASON = /^[A-Za-z][A-Za-z0-9]{0,63}$/;

function isSame(a: string, b: string): boolean {
  return a === b || TOLD_IN_TURN.some((reasons) => reasons.includes(a) && reasons.includes(b));
}

function isAbout({ message }: Condition, pod: string): boolean {
  return message.startsWith(`Pod ${pod} `);
}

function isAboutJob(told: Condition | undefined, job: Stored<Job>): boolean {
  return told?.reason === NO_POD && told.message.startsWith(`Job ${job.metadata.name} `);
}
