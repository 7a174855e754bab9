/**
 * What the node knows of one container, and the transitions between its states. A record is the
 * node's truth, as the container runtime's list is a kubelet's; the status that the API shows is
 * computed from it (`container-status.ts`) and decisions are too (`pod-actions.ts`).
 */
import type { Container, ContainerStateTerminated, PodSpec } from '../../kube/pod.ts';
import { type Backoff, type BackoffLimits, nextBackoff } from './backoff.ts';
import type { ProbeKind } from './probe-worker.ts';

/**
 * `sidecar` is an init container with restartPolicy Always. `ephemeral` is one that was added to look
 * into the Pod: it is started once, whatever else the Pod does, and means nothing for it.
 */
export type ContainerKind = 'init' | 'sidecar' | 'regular' | 'ephemeral';

export interface ContainerRecord {
  readonly name: string;
  readonly kind: ContainerKind;
  readonly restartCount: number;
  readonly life: ContainerLife;
  readonly lastTerminated: ContainerStateTerminated | undefined;
  /** The container was started once since all were last restarted: what follows need not wait. */
  readonly hasPassed: boolean;
  readonly backoff: Backoff | undefined;
}

export type ContainerLife = Waiting | Starting | Running | Exited;

/** One that is not about to change. */
export type SettledRecord = ContainerRecord & { readonly life: Waiting | Running | Exited };

export interface Waiting {
  readonly state: 'waiting';
  /** Undefined: the usual one, PodInitializing or ContainerCreating. */
  readonly reason: string | undefined;
  readonly message: string | undefined;
  /** Not to be started before; wall time. */
  readonly notBeforeMs: number;
  /** The container ended and the next start will be a restart. */
  readonly isRestart: boolean;
  /** Shown although nothing runs: of the container that ended before. */
  readonly containerID: string | undefined;
  /** Shown: an init container that completed stays ready while all are restarted. */
  readonly ready: boolean;
}

export interface Starting {
  readonly state: 'starting';
  /** What was before, which is shown until the process runs. */
  readonly before: SettledRecord;
}

export interface Running {
  readonly state: 'running';
  readonly containerID: string;
  readonly startedMs: number;
  /** Its startup probe succeeded, or it has none. */
  readonly started: boolean;
  readonly ready: boolean;
  /** Why it was told to stop, if it was. */
  readonly stopping: StopReason | undefined;
  /** A probe gave the container up; it is to be stopped. */
  readonly unhealthy: 'Liveness' | 'Startup' | undefined;
}

export type StopReason =
  | 'RestartAllContainers'
  | 'Unhealthy'
  | 'Redefined'
  | 'SandboxChanged'
  | 'PodEnd';

export interface Exited {
  readonly state: 'exited';
  readonly terminated: ContainerStateTerminated;
  readonly finishedMs: number;
  /** It was told to stop, so nothing that it did is the cause of what happens now. */
  readonly wasStopped: StopReason | undefined;
}

/** Waits to be started for the first time. */
export const FRESH: Waiting = {
  state: 'waiting',
  reason: undefined,
  message: undefined,
  notBeforeMs: 0,
  isRestart: false,
  containerID: undefined,
  ready: false,
};

const CRASH_LOOP_REASON = 'CrashLoopBackOff';
export const RESTARTING_ALL_REASON = 'RestartingAllContainers';
export const RESTARTING_ALL_MESSAGE =
  'The container is removed because RestartAllContainers in place';
/** A container of which nothing can be known any more, in a kubelet's words. */
export const LOST_REASON = 'ContainerStatusUnknown';
export const LOST_MESSAGE = 'The container could not be located when the pod was terminated';
/** What a process that was killed leaves: 128 + SIGKILL. */
export const KILLED_EXIT_CODE = 137;

/** A container of a Pod that the node sees for the first time. */
export function freshRecord(name: string, kind: ContainerKind): ContainerRecord {
  return {
    name,
    kind,
    restartCount: 0,
    life: FRESH,
    lastTerminated: undefined,
    hasPassed: false,
    backoff: undefined,
  };
}

export interface KnownContainer<K extends ContainerKind = ContainerKind> {
  readonly container: Container;
  readonly kind: K;
}

/** All that run in the Pod, those too that were added later. */
export function allContainersOf(spec: PodSpec): readonly KnownContainer[] {
  return [...containersOf(spec), ...ephemeralContainersOf(spec)];
}

export function ephemeralContainersOf({
  ephemeralContainers = [],
}: PodSpec): readonly KnownContainer<'ephemeral'>[] {
  return ephemeralContainers.map((container) => ({ container, kind: 'ephemeral' }));
}

/** Those of which the Pod is made: init containers and sidecars in order, then the regular ones. */
export function containersOf(
  spec: PodSpec,
): readonly KnownContainer<Exclude<ContainerKind, 'ephemeral'>>[] {
  return [
    ...(spec.initContainers ?? []).map((container) => ({
      container,
      kind: container.restartPolicy === 'Always' ? ('sidecar' as const) : ('init' as const),
    })),
    ...spec.containers.map((container) => ({ container, kind: 'regular' as const })),
  ];
}

/** Whether it was started since all containers were last restarted, or since the Pod began. */
export function hasStarted(record: ContainerRecord): boolean {
  return record.life.state !== 'waiting' || record.life.isRestart;
}

/** A process of it may exist. */
export function isAlive(record: ContainerRecord): boolean {
  return record.life.state === 'running' || record.life.state === 'starting';
}

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
  return { ...record, life: { ...life, before: settled(before) } };
}

/** As it was before the start that is under way, if one is. */
export function settled(record: ContainerRecord): SettledRecord {
  const { life } = record;
  return life.state === 'starting' ? life.before : { ...record, life };
}

/** The start could not even be tried: the container waits and is tried again at `retryMs`. */
export function blocked(
  before: ContainerRecord,
  why: { readonly reason: string; readonly message: string },
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

/** It has another image now, and the crash loop of the one before is none of its own. */
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

/** A probe settled something; `Startup` also stands for the postStart hook of one without that probe. */
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

/** A kubelet says that a container has started before it says that it is ready. */
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

/** Removed because all containers restart: the exit code is forgotten, a start that was is counted. */
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
  // What went down only because its sandbox did is not remembered as having been there.
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

/** Once the first container of a new round runs, those that still wait do so for the usual reason. */
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
  // One that never ran at all goes on waiting, as a kubelet shows it.
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
