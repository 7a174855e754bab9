/**
 * The transitions between the states of a container's record. Each is pure and makes a new record
 * from the old one; `pod-actions.ts` decides which is due.
 */
import type { ContainerStateTerminated } from '@lockstep/kube/objects/pod.ts';
import { type BackoffLimits, nextBackoff } from '../backoff.ts';
import type { ProbeKind } from '../probe/probe-worker.ts';
import {
  type ContainerRecord,
  type Exited,
  FRESH,
  hasStarted,
  KILLED_EXIT_CODE,
  LOST_MESSAGE,
  LOST_REASON,
  RESTARTING_ALL_MESSAGE,
  RESTARTING_ALL_REASON,
  type StopReason,
  settled,
  type Waiting,
} from './container-record.ts';

const CRASH_LOOP_REASON = 'CrashLoopBackOff';

/** A start begins. A restart counts here, and its predecessor becomes the last state. */
export function starting(
  record: ContainerRecord,
  nowMs: number,
  limits: BackoffLimits,
): ContainerRecord {
  const { life } = record;
  const isRestart = life.state === 'exited' || (life.state === 'waiting' && life.isRestart);
  const after = life.state === 'exited' ? withLast(record, life) : record;
  return {
    ...after,
    restartCount: record.restartCount + (isRestart ? 1 : 0),
    backoff:
      life.state === 'exited'
        ? nextBackoff(record.backoff, life.finishedMs, nowMs, limits)
        : record.backoff && { ...record.backoff, updatedMs: nowMs },
    life: { state: 'starting', before: settled(record) },
  };
}

/** It starts, and until then is shown as `before`. */
export function shownAs(record: ContainerRecord, before: ContainerRecord): ContainerRecord {
  const { life } = record;
  if (life.state !== 'starting') return record;
  return { ...record, life: { ...life, shown: settled(before) } };
}

/** The start could not even be tried: the container waits and is tried again at `retryMs`. */
export function blocked(
  before: ContainerRecord,
  why: Pick<Waiting, 'reason' | 'message'>,
  retryMs: number,
): ContainerRecord {
  const { life } = before;
  const after = life.state === 'exited' ? withLast(before, life) : before;
  return {
    ...after,
    life: {
      ...FRESH,
      ...why,
      notBeforeMs: retryMs,
      isRestart: hasStarted(before),
      containerID: life.state === 'exited' ? life.terminated.containerID : undefined,
    },
  };
}

/** It ended and has to wait for its next start. */
export function backingOff(
  record: ContainerRecord,
  exited: Exited,
  message: string,
  untilMs: number,
  nowMs: number,
  limits: BackoffLimits,
): ContainerRecord {
  const backoff = nextBackoff(record.backoff, exited.finishedMs, nowMs, limits);
  return { ...blocked(record, { reason: CRASH_LOOP_REASON, message }, untilMs), backoff };
}

/** It ended and starts again as soon as its Pod is prepared; its end is not shown. */
export function restartingLater(
  record: ContainerRecord,
  { finishedMs }: Exited,
  nowMs: number,
  limits: BackoffLimits,
): ContainerRecord {
  const backoff = nextBackoff(record.backoff, finishedMs, nowMs, limits);
  return { ...blocked(record, { reason: undefined, message: undefined }, nowMs), backoff };
}

/** It has another image now, and the crash loop of the old one does not count. */
export function redefined(
  record: ContainerRecord,
  nowMs: number,
  { initialMs }: BackoffLimits,
): ContainerRecord {
  const { life } = record;
  if (life.state !== 'waiting' || life.reason !== CRASH_LOOP_REASON) {
    return { ...record, backoff: undefined };
  }
  const backoff = { delayMs: initialMs, updatedMs: nowMs };
  return { ...record, backoff, life: { ...life, notBeforeMs: nowMs } };
}

/** The process runs. */
export function running(
  record: ContainerRecord,
  containerID: string,
  startedMs: number,
  probes: { readonly startup: boolean; readonly readiness: boolean },
): ContainerRecord {
  return {
    ...record,
    hasPassed: record.hasPassed || !probes.startup,
    life: {
      state: 'running',
      containerID,
      startedMs,
      started: !probes.startup,
      ready: !probes.startup && !probes.readiness && countsAsReady(record),
      stopping: undefined,
      unhealthy: undefined,
    },
  };
}

function countsAsReady({ kind }: ContainerRecord): boolean {
  return kind !== 'init' && kind !== 'ephemeral';
}

/**
 * A probe reached a verdict. `Startup` also stands for the postStart hook of a container without
 * that probe.
 */
export function probed(
  record: ContainerRecord,
  kind: ProbeKind,
  verdict: 'success' | 'failure',
  hasReadinessProbe: boolean,
): ContainerRecord {
  const { life } = record;
  if (life.state !== 'running') return record;
  if (kind === 'Readiness') return { ...record, life: { ...life, ready: verdict === 'success' } };
  if (verdict === 'failure') return { ...record, life: { ...life, unhealthy: kind } };
  if (kind === 'Liveness') return record;
  const ready = !hasReadinessProbe && record.kind !== 'init';
  return { ...record, hasPassed: true, life: { ...life, started: true, ready } };
}

/** A kubelet reports a container as started before it reports it as ready. */
export function notReadyYet(record: ContainerRecord): ContainerRecord {
  const { life } = record;
  return life.state === 'running' ? { ...record, life: { ...life, ready: false } } : record;
}

/** It was told to stop. */
export function stopping(record: ContainerRecord, reason: StopReason): ContainerRecord {
  const { life } = record;
  if (life.state !== 'running') return record;
  return { ...record, life: { ...life, stopping: reason } };
}

/** The process ended, or could not be executed. */
export function exited(
  record: ContainerRecord,
  terminated: ContainerStateTerminated,
  finishedMs: number,
): ContainerRecord {
  const wasStopped = record.life.state === 'running' ? record.life.stopping : undefined;
  return { ...record, life: { state: 'exited', terminated, finishedMs, wasStopped } };
}

/**
 * Removed because all containers restart: the exit code is forgotten, but an earlier start counts.
 */
export function removed(record: ContainerRecord): ContainerRecord {
  if (!hasStarted(record) || record.kind === 'ephemeral') return record;
  const { life } = record;
  const ended = life.state === 'exited' ? life : undefined;
  const lastTerminated: ContainerStateTerminated = {
    exitCode: KILLED_EXIT_CODE,
    reason: RESTARTING_ALL_REASON,
    message: RESTARTING_ALL_MESSAGE,
  };
  const removal = { ...record, restartCount: record.restartCount + 1, lastTerminated };
  // A container that went down only with its sandbox is forgotten.
  const isForgotten = ended?.wasStopped === 'SandboxChanged' && record.kind !== 'regular';
  if (isForgotten) return { ...removal, hasPassed: false, life: FRESH };
  const hadEnded = ended !== undefined && ended.wasStopped !== 'RestartAllContainers';
  return {
    ...removal,
    hasPassed: false,
    life: {
      ...FRESH,
      reason: RESTARTING_ALL_REASON,
      message: RESTARTING_ALL_MESSAGE,
      containerID: hadEnded ? ended.terminated.containerID : undefined,
      ready: hadEnded && record.kind === 'init' && ended.terminated.exitCode === 0,
    },
  };
}

/**
 * Once the first container of a new round runs, those that still wait do so for the usual reason.
 */
export function waitingAgain(record: ContainerRecord): ContainerRecord {
  const { life } = record;
  if (life.state === 'starting') {
    return { ...record, life: { ...life, before: settled(waitingAgain(life.before)) } };
  }
  if (life.state !== 'waiting' || life.reason !== RESTARTING_ALL_REASON) return record;
  return { ...record, life: FRESH };
}

/** It waits for a start that will not come: the Pod has ended. */
export function neverStarting(record: ContainerRecord, nowMs: number): ContainerRecord {
  // A container that never ran keeps waiting, as a kubelet shows it.
  if (record.life.state !== 'waiting' || record.lastTerminated === undefined) return record;
  const terminated: ContainerStateTerminated = {
    exitCode: KILLED_EXIT_CODE,
    reason: LOST_REASON,
    message: LOST_MESSAGE,
  };
  return {
    ...record,
    life: { state: 'exited', terminated, finishedMs: nowMs, wasStopped: 'PodEnd' },
  };
}

function withLast(record: ContainerRecord, life: Exited): ContainerRecord {
  return { ...record, lastTerminated: life.terminated };
}
