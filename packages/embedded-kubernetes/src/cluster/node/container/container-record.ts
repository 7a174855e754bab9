/**
 * What the node knows of one container. A record is the node's truth, as the container runtime's
 * list is a kubelet's. The API's status (`container-status.ts`) and decisions (`pod-actions.ts`)
 * are computed from it. `container-transitions.ts` changes it.
 */
import type { ContainerStateTerminated } from '@lockstep/kube/objects/pod.ts';
import type { Backoff } from '../backoff.ts';
import type { ContainerKind } from '../pod-containers.ts';

export interface ContainerRecord {
  readonly name: string;
  readonly kind: ContainerKind;
  readonly restartCount: number;
  readonly life: ContainerLife;
  readonly lastTerminated: ContainerStateTerminated | undefined;
  /**
   * The container was started once since all were last restarted, so later ones need not wait for
   * it.
   */
  readonly hasPassed: boolean;
  readonly backoff: Backoff | undefined;
}

export type ContainerLife = Waiting | Starting | Running | Exited;

/** A record that is not about to change. */
export type SettledRecord = ContainerRecord & { readonly life: Waiting | Running | Exited };

export interface Waiting {
  readonly state: 'waiting';
  /** Undefined: the usual one, PodInitializing or ContainerCreating. */
  readonly reason: string | undefined;
  readonly message: string | undefined;
  /** Not to be started before; wall time. */
  readonly notBeforeMs: number;
  /** The container ended, and the next start will be a restart. */
  readonly isRestart: boolean;
  /** Shown although nothing runs: the ID of the container that ended before. */
  readonly containerID: string | undefined;
  /** Shown: an init container that completed stays ready while all are restarted. */
  readonly ready: boolean;
}

export interface Starting {
  readonly state: 'starting';
  /** What was before. */
  readonly before: SettledRecord;
  /** The earlier record, which is shown until the process runs. */
  readonly shown?: SettledRecord | undefined;
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
  /** It was told to stop, so its exit is not the cause of what happens now. */
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

export const RESTARTING_ALL_REASON = 'RestartingAllContainers';
export const RESTARTING_ALL_MESSAGE =
  'The container is removed because RestartAllContainers in place';
/** The reason for a container with an unknown state, in a kubelet's words. */
export const LOST_REASON = 'ContainerStatusUnknown';
export const LOST_MESSAGE = 'The container could not be located when the pod was terminated';
/** The exit code of a killed process: 128 + SIGKILL. */
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

/** Whether it was started since all containers were last restarted, or since the Pod began. */
export function hasStarted(record: ContainerRecord): boolean {
  return record.life.state !== 'waiting' || record.life.isRestart;
}

/** Whether a process of it may exist. */
export function isAlive(record: ContainerRecord): boolean {
  return record.life.state === 'running' || record.life.state === 'starting';
}

/** As it is shown: not as one that starts, but as it was before. */
export function settled(record: ContainerRecord): SettledRecord {
  const { life } = record;
  return life.state === 'starting' ? (life.shown ?? life.before) : { ...record, life };
}
