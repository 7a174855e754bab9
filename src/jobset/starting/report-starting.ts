/**
 * Says why members of a group do not start: no node has room, an image cannot be pulled, a quota lets
 * no Pod be made. No status of Pods is cached, so one Pod is read at a time, and only while members
 * are missing for longer than a restart takes.
 */
import { type Condition, namespaceOf, type Stored } from '../../kube/meta.ts';
import type { Job } from '../../kube/objects/job.ts';
import { printable } from '../../kube/quote.ts';
import { isSuspended } from '../child-jobs/suspend.ts';
import type { Decision } from '../decision.ts';
import type { PodFacts } from '../epoch/pod-facts.ts';
import { type Facts, type GroupFacts, isOfGroup } from '../facts.ts';
import type { Question, StartLook } from '../snapshot.ts';
import { cleared, isFinished } from '../status/conditions.ts';
import type { PodHold } from './pod-hold.ts';

/** From one read of a Pod to the next. */
export const START_LOOK_MS = 10_000;
/** A restart in place takes less, so it costs no read. */
export const START_PATIENCE_MS = 5000;
/** The Job controller waits about 10 s before it replaces a Pod that failed. */
const REPLACEMENT_PATIENCE_MS = 20_000;
/** While an epoch ends or begins, nothing is asked. */
const BUSY_MS = 1000;
/** Pods of a Job that are read in turn. */
const MAX_CANDIDATES = 64;

const TYPE = 'MemberNotStarting';

/** `mayAsk`: nothing else is decided, so a question delays nothing. */
export function reportStarting(facts: Facts, mayAsk: boolean): readonly Decision[] {
  const { startLook, spec, status, answers } = facts;
  if (startLook === undefined) return [];
  const isWanted = !spec.suspend && !isFinished(status.conditions);
  const missing = isWanted && isOfGroup(facts) ? missingMembers(facts) : undefined;
  if (missing === undefined || !isOfGroup(facts)) {
    return [{ conditions: [cleared(TYPE, 'NoneMissing', 'no member waits to start')] }];
  }
  const lacks = { lacksMembers: true } as const;
  const dueMs = patienceFor(missing) - startLook.missingForMs;
  if (dueMs > 0) return [{ ...lacks, requeueAfterMs: dueMs }];
  const told = status.conditions?.find(({ type, status }) => type === TYPE && status === 'True');
  const again = { ...lacks, requeueAfterMs: START_LOOK_MS } as const;
  if (missing.kind === 'NoPod') return [{ ...again, ...withoutPod(missing, told) }];
  const { heldPod } = answers;
  if (heldPod !== undefined) return [{ ...again, ...held(heldPod, told) }];
  const { mayLookInMs } = startLook;
  if (mayLookInMs > 0 || !mayAsk) {
    return [{ ...lacks, requeueAfterMs: Math.max(BUSY_MS, mayLookInMs) }];
  }
  return [{ question: questionAbout(missing, facts, startLook, told) }];
}

type Missing =
  /** A Pod of the Job has not announced the epoch. */
  | { readonly kind: 'Unannounced'; readonly job: Stored<Job> }
  /** The Job has fewer Pods than it should. */
  | { readonly kind: 'NoPod'; readonly job: Stored<Job>; readonly count: number }
  /** The epoch is released, and Pods of the Job are not ready: perhaps a worker does not start. */
  | { readonly kind: 'Unready'; readonly job: Stored<Job> };

/** Undefined: all members are there. By counts of Jobs, never of Pods. */
function missingMembers({ group, members }: GroupFacts): Missing | undefined {
  let unready: Missing | undefined;
  let noPod: Missing | undefined;
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
        if (released === group.epoch && ready < active) unready ??= { kind: 'Unready', job };
      } else if (live > announced) {
        return { kind: 'Unannounced', job };
      } else if (live + terminating + succeeded < parallelism) {
        noPod ??= { kind: 'NoPod', job, count: parallelism - live - terminating - succeeded };
      }
    }
  }
  return noPod ?? unready;
}

function patienceFor({ kind, job }: Missing): number {
  const hasFailed = kind === 'NoPod' && (job.status?.failed ?? 0) > 0;
  return hasFailed ? REPLACEMENT_PATIENCE_MS : START_PATIENCE_MS;
}

/**
 * The Pod that the condition names is read again while it is among the candidates, so that the
 * condition does not change with each look. Otherwise they take turns. Of Pods that have announced
 * the epoch, one that is `Pending` is looked for first.
 */
function questionAbout(
  { kind, job }: Missing,
  { group, members }: GroupFacts,
  { looks }: StartLook,
  told: Condition | undefined,
): Question {
  const candidates: PodFacts[] = [];
  for (const pod of members.podsOfJob(job.metadata.uid)) {
    if (pod.isTerminating || (kind === 'Unannounced' && pod.epoch === group.epoch)) continue;
    if (told !== undefined && isAbout(told, pod.name)) return { kind: 'HeldPod', pod };
    if (candidates.length < MAX_CANDIDATES) candidates.push(pod);
  }
  if (kind === 'Unready' && looks % 2 === 0) return { kind: 'HeldPod', pod: undefined };
  const turn = kind === 'Unready' ? (looks - 1) / 2 : looks;
  return { kind: 'HeldPod', pod: candidates[turn % Math.max(1, candidates.length)] };
}

function held(
  { name, hold }: { readonly name?: string | undefined; readonly hold?: PodHold | undefined },
  told: Condition | undefined,
): Decision {
  if (name === undefined || hold === undefined) {
    const isOver = name !== undefined && told !== undefined && isAbout(told, name);
    // Between two crashes a container runs for a moment.
    if (!isOver || told.reason === CRASHING) return {};
    return { conditions: [cleared(TYPE, 'Starting', `Pod ${name} starts`)] };
  }
  const reason = REASON.test(hold.reason) ? hold.reason : 'Waiting';
  if (told !== undefined && isAbout(told, name) && isSame(told.reason, reason)) return {};
  const where = hold.container === undefined ? '' : ` in container ${hold.container}`;
  const why = hold.message === undefined ? '' : `: ${printable(hold.message)}`;
  const message = `Pod ${name} does not start: ${reason}${where}${why}`;
  return { conditions: [{ type: TYPE, status: 'True', reason, message, event: 'Warning' }] };
}

function withoutPod(
  { job, count }: Extract<Missing, { kind: 'NoPod' }>,
  told: Condition | undefined,
): Decision {
  const { name } = job.metadata;
  const subject = `Job ${name} `;
  if (told?.reason === NO_POD && told.message.startsWith(subject)) return {};
  const lacks = count === 1 ? 'a Pod' : `${count} Pods`;
  const message =
    `${subject}lacks ${lacks} that Kubernetes did not make, as when a quota or a webhook refuses it; ` +
    `the Events of the Job say why: kubectl describe job ${name} -n ${namespaceOf(job.metadata)}`;
  return {
    conditions: [{ type: TYPE, status: 'True', reason: NO_POD, message, event: 'Warning' }],
  };
}

const NO_POD = 'PodNotCreated';
const CRASHING = 'CrashLoopBackOff';
/** A node tries again and again, and tells the two in turn. */
const IMAGE_REASONS: readonly string[] = ['ErrImagePull', 'ImagePullBackOff'];
/** What the API server takes as the reason of a condition, and a person can read. */
const REASON = /^[A-Za-z][A-Za-z0-9]{0,63}$/;

function isSame(a: string, b: string): boolean {
  return a === b || (IMAGE_REASONS.includes(a) && IMAGE_REASONS.includes(b));
}

function isAbout({ message }: Condition, pod: string): boolean {
  return message.startsWith(`Pod ${pod} `);
}
