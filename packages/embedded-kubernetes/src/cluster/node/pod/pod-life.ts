/**
 * The life of one Pod on its node, as a value: what the node knows of it and does with it, what can
 * happen to it, and what has to be done then. How one life follows from another is in
 * `pod-step.ts`.
 */
import type { Pod, PodSpec } from '@lockstep/kube/objects/pod.ts';
import type { BackoffLimits } from '../backoff.ts';
import { adoptedRecords } from '../container/container-adoption.ts';
import type { ContainerRecord } from '../container/container-record.ts';
import type { ContainerNews, StartOrder, TakeOver } from '../container/container-runs.ts';
import { allContainersOf, type KnownContainer } from '../pod-containers.ts';
import type { NodePodStatus, PodEnding } from '../status/pod-status.ts';
import type { StatusImportance } from '../status/status-writer.ts';
import type { PodMode, PodView } from './pod-actions.ts';

export interface PodLife {
  /** As the API has it. */
  readonly pod: Pod;
  /** What its containers are made by: the spec as it was when it was last taken over. */
  readonly spec: PodSpec;
  /** One for each container that the node knows. */
  readonly records: readonly ContainerRecord[];
  readonly stage: PodStage;
  readonly mode: PodMode;
  /** Why the Pod ends; undefined while it is to run. */
  readonly ending: PodEnding | undefined;
  /** When all that is left of a Pod that ends is killed; monotonic. */
  readonly killAtMs: number;
  /** Something was stopped because the Pod ends: its address goes with that. */
  readonly wasStopped: boolean;
  /** Monotonic. */
  readonly lastRestartAllMs: number;
  /** When to look at it again although nothing happens; monotonic. */
  readonly wakeAtMs: number | undefined;
  readonly podIP: string | undefined;
  /** The newest, written or not; undefined before the first one of this life of the node. */
  readonly status: NodePodStatus | undefined;
  /** An earlier life of the node has run it, and its last status holds until all is there again. */
  readonly isResumed: boolean;
  /** When the node saw it first; wall time. */
  readonly seenMs: number;
  readonly node: NodeFacts;
  /** When the last event happened. */
  readonly at: Instant;
}

export interface NodeFacts {
  readonly hostIP: string;
  readonly backoff: BackoffLimits;
}

export interface Instant {
  /** Wall time. */
  readonly nowMs: number;
  readonly monotonicMs: number;
}

export type PodStage =
  /** Waits until the leftovers of an earlier life of the node are known. */
  | { readonly name: 'Adopting' }
  /** Address, directory and volumes are being made; `problem`: why not yet. */
  | { readonly name: 'Preparing'; readonly problem: string | undefined }
  /** Containers may run. */
  | { readonly name: 'Prepared' }
  /** The node stops: everything is ended, without a status. */
  | { readonly name: 'Stopping' }
  /** Nothing runs any more; what the Pod had is being removed. */
  | { readonly name: 'Over' }
  | { readonly name: 'CleanedUp' };

/** What an earlier life of the node has noted of a Pod. */
export interface PodState {
  readonly records: readonly ContainerRecord[];
  readonly mode: PodMode;
  readonly ending: PodEnding | undefined;
  readonly podIP: string | undefined;
}

export type PodEvent = PodNews & { readonly at: Instant };

export type PodNews =
  | ContainerNews
  | { readonly type: 'begun' }
  /**
   * Every process that an earlier life of the node has started is taken over, or known to be gone.
   */
  | { readonly type: 'allTakenOver' }
  | { readonly type: 'notPrepared'; readonly reason: string; readonly problem: string }
  | { readonly type: 'prepared'; readonly podIP: string }
  /** Other Pods can know its address. */
  | { readonly type: 'introduced' }
  | { readonly type: 'addressRenewed'; readonly podIP: string | undefined }
  /** The object has changed. */
  | { readonly type: 'updated'; readonly pod: Pod }
  /** The object is gone. */
  | { readonly type: 'gone' }
  /** `activeDeadlineSeconds` are over. */
  | { readonly type: 'deadlineExceeded' }
  /** The time that `wake` asked for has come. */
  | { readonly type: 'woken' }
  | { readonly type: 'nodeStops' }
  /** The node stops, and no process is left. */
  | { readonly type: 'allShutDown' }
  | { readonly type: 'cleanedUp' };

/** To be carried out in order. */
export type PodEffect =
  | {
      readonly type: 'writeStatus';
      readonly status: NodePodStatus;
      readonly importance: StatusImportance;
    }
  /** Other Pods see something new of this one: its address, its readiness, or its end. */
  | { readonly type: 'tellOthers' }
  | PodEventEffect
  | { readonly type: 'logRestartOfAll'; readonly sources: readonly string[] }
  /** Each is answered by `takenOver`, `started` or `missing`, and all by `allTakenOver`. */
  | { readonly type: 'takeOver'; readonly runs: readonly TakeOver[] }
  /** Answered by `prepared`, after any number of `notPrepared`. */
  | { readonly type: 'prepare' }
  | { readonly type: 'abandonPreparation' }
  /** Answered by `introduced`. */
  | { readonly type: 'introduce' }
  /** Answered by `addressRenewed`. */
  | { readonly type: 'renewAddress' }
  /** Answered by `started`, `notStarted` or `blocked`. */
  | ({ readonly type: 'start' } & StartOrder)
  /** Answered by `exited`. */
  | {
      readonly type: 'stop';
      readonly name: string;
      readonly graceMs: number;
      readonly runsPreStop: boolean;
    }
  /** All that runs is killed then. */
  | { readonly type: 'killAfter'; readonly delayMs: number }
  /** Answered by `woken`, unless another comes before; undefined: not at all. */
  | { readonly type: 'wake'; readonly delayMs: number | undefined }
  /** Answered by `cleanedUp`. */
  | { readonly type: 'cleanUp' }
  /** The API may forget the Pod. */
  | { readonly type: 'confirmDeletion' };

/** An Event about the Pod, or about one of its containers. */
export interface PodEventEffect {
  readonly type: 'event';
  readonly about: Pick<ContainerRecord, 'name' | 'kind'> | undefined;
  readonly severity: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
}

export interface Step {
  readonly life: PodLife;
  readonly effects: readonly PodEffect[];
}

/** A part of a step. */
export type Move = (life: PodLife) => Step;

const DEFAULT_GRACE_SECONDS = 30;
/** Grace of a restart of all containers, and the least that any container gets. */
export const MIN_GRACE_MS = 2_000;

export function newLife(
  pod: Pod,
  node: NodeFacts,
  at: Instant,
  resumed: PodState | undefined,
): PodLife {
  const { records, mode, ending, podIP } = resumed ?? {
    records: adoptedRecords(pod, at.nowMs),
    mode: 'running',
    ending: undefined,
    podIP: undefined,
  };
  const isResumed = resumed !== undefined;
  const names = allContainersOf(pod.spec).map(({ container }) => container.name);
  return {
    pod,
    spec: pod.spec,
    records: names.flatMap((name) => records.find((record) => record.name === name) ?? []),
    stage: isResumed ? { name: 'Adopting' } : { name: 'Preparing', problem: undefined },
    mode,
    ending,
    killAtMs: Number.POSITIVE_INFINITY,
    wasStopped: false,
    lastRestartAllMs: Number.NEGATIVE_INFINITY,
    wakeAtMs: undefined,
    podIP,
    status: undefined,
    isResumed,
    seenMs: at.nowMs,
    node,
    at,
  };
}

/** How long the Pod has to end, by default. */
export function graceMsOf({ spec }: Pod): number {
  return (spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1000;
}

export function recordOf({ records }: PodLife, name: string): ContainerRecord | undefined {
  return records.find((record) => record.name === name);
}

/** As its next run is made. */
export function definitionOf({ spec }: PodLife, name: string): KnownContainer | undefined {
  return allContainersOf(spec).find(({ container }) => container.name === name);
}

export function viewOf({ pod, records, mode }: PodLife): PodView {
  return { spec: pod.spec, records: byName(records), mode };
}

export function byName(records: readonly ContainerRecord[]): ReadonlyMap<string, ContainerRecord> {
  return new Map(records.map((record) => [record.name, record]));
}

/** Whether nothing is decided any more. */
export function isOver({ stage }: PodLife): boolean {
  return stage.name === 'Stopping' || stage.name === 'Over' || stage.name === 'CleanedUp';
}

export function withRecord(life: PodLife, record: ContainerRecord): PodLife {
  const records = life.records.map((each) => (each.name === record.name ? record : each));
  return { ...life, records };
}

export function stay(life: PodLife): Step {
  return { life, effects: [] };
}

export function perform(...effects: readonly PodEffect[]): Move {
  return (life) => ({ life, effects });
}

/** Each move begins where the one before has ended. */
export function inOrder(life: PodLife, ...moves: readonly Move[]): Step {
  return moves.reduce<Step>((before, move) => {
    const next = move(before.life);
    return { life: next.life, effects: [...before.effects, ...next.effects] };
  }, stay(life));
}
