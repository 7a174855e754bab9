/**
 * What to start and stop next in one Pod, from its spec and the records of its containers. Init
 * containers run one after the other. Sidecars hold back what follows until they have started once.
 * An exit that a `RestartAllContainers` rule matches takes the whole Pod down and up again. It is
 * called after every change.
 */
import type { Container, PodSpec } from '@lockstep/kube/objects/pod.ts';
import { earliestStartMs } from '../backoff.ts';
import {
  type ContainerRecord,
  type Exited,
  hasStarted,
  isAlive,
  type StopReason,
} from '../container/container-record.ts';
import {
  effectivePolicy,
  shouldRestart,
  terminatesPod,
  triggersRestartOfAll,
} from '../container/restart-rules.ts';
import { type ContainerKind, containersOf, ephemeralContainersOf } from '../pod-containers.ts';

export interface PodView {
  readonly spec: PodSpec;
  /** One record for each container, by name. */
  readonly records: ReadonlyMap<string, ContainerRecord>;
  readonly mode: PodMode;
}

/**
 * `restarting-all` lasts from the trigger until the last container is down; `replacing-sandbox`
 * likewise, when nothing was left to keep; `ending` is for good.
 */
export type PodMode = 'running' | 'restarting-all' | 'replacing-sandbox' | 'ending';

export type PodPlan =
  | {
      readonly type: 'run';
      readonly start: readonly string[];
      /** A probe gave them up. */
      readonly stop: readonly string[];
      readonly backOff: readonly BackOffAction[];
      /** When to plan again although nothing happened; wall time. */
      readonly wakeMs: number | undefined;
    }
  /** Every container is to be stopped and then started again. */
  | { readonly type: 'restart-all' }
  /** A probe gave up the last main container, for good: all go down, and the address with them. */
  | { readonly type: 'replace-sandbox' }
  /** The Pod has succeeded or failed: nothing of it is to run any more. */
  | { readonly type: 'end' }
  /** In modes other than `running`: what to stop now, and whether all are down. */
  | { readonly type: 'take-down'; readonly stop: readonly string[]; readonly isDown: boolean };

export interface BackOffAction {
  readonly name: string;
  readonly exited: Exited;
  readonly delayMs: number;
  readonly untilMs: number;
}

interface Member {
  readonly container: Container;
  readonly kind: ContainerKind;
  readonly record: ContainerRecord;
}

export function planPod(view: PodView, nowMs: number): PodPlan {
  const members = membersOf(view);
  const guests = guestsOf(view);
  switch (view.mode) {
    case 'restarting-all':
      return planRestartOfAll(members);
    case 'replacing-sandbox':
      return planEnding(members, guests, 'SandboxChanged');
    case 'ending':
      return planEnding(members, guests, 'PodEnd');
    case 'running':
      break;
  }
  if (isLeftAlone(members, view.spec)) return { type: 'replace-sandbox' };
  if (members.some((member) => isEndOfPod(member, view.spec))) return { type: 'end' };
  if (members.some(isTrigger)) return { type: 'restart-all' };
  if (regulars(members).every((member) => isFinished(member, view.spec))) return { type: 'end' };
  return planRun(members, guests, view.spec, nowMs);
}

/** The containers whose exits ask for the restart of all. */
export function restartSources(view: PodView): readonly string[] {
  return membersOf(view)
    .filter(isTrigger)
    .map(({ record }) => record.name);
}

function planRun(
  members: readonly Member[],
  guests: readonly ContainerRecord[],
  spec: PodSpec,
  nowMs: number,
): PodPlan {
  const start: string[] = [];
  const backOff: BackOffAction[] = [];
  let wakeMs = Number.POSITIVE_INFINITY;
  const consider = (record: ContainerRecord): void => {
    const { life } = record;
    if (life.state === 'exited') {
      const untilMs = earliestStartMs(record.backoff, life.finishedMs);
      if (untilMs <= nowMs) {
        start.push(record.name);
      } else {
        const delayMs = untilMs - life.finishedMs;
        backOff.push({ name: record.name, exited: life, delayMs, untilMs });
        wakeMs = Math.min(wakeMs, untilMs);
      }
    } else if (life.state === 'waiting') {
      if (life.notBeforeMs <= nowMs) start.push(record.name);
      else wakeMs = Math.min(wakeMs, life.notBeforeMs);
    }
  };
  // First, so that problems of other containers never block inspection.
  for (const record of guests) if (record.life.state === 'waiting') consider(record);
  for (const { record } of due(members, spec)) consider(record);
  return {
    type: 'run',
    start,
    stop: members.filter(({ record }) => isGivenUp(record)).map(({ record }) => record.name),
    backOff,
    wakeMs: Number.isFinite(wakeMs) ? wakeMs : undefined,
  };
}

/** Containers that should run now: all regular ones once every init container allows it. */
function* due(members: readonly Member[], spec: PodSpec): Generator<Member> {
  const isInitialized = regulars(members).some(({ record }) => hasStarted(record));
  for (const member of inits(members)) {
    const { record, kind } = member;
    if (kind === 'sidecar') {
      yield member;
      if (!record.hasPassed && !isInitialized) return;
    } else if (!isInitialized && !isCompleted(record)) {
      yield member;
      return;
    }
  }
  for (const member of regulars(members)) {
    if (!isFinished(member, spec)) yield member;
  }
}

/** One by one, as in a kubelet: a sidecar serves the main containers until they are down. */
function planRestartOfAll(members: readonly Member[]): PodPlan {
  const all = [...regulars(members), ...inits(members)].map(({ record }) => record);
  const next = all.find(isAlive);
  return takeDown(all, next === undefined ? [] : [next], 'RestartAllContainers');
}

/** Main containers first; sidecars one by one in reverse order once those are down. */
function planEnding(
  members: readonly Member[],
  guests: readonly ContainerRecord[],
  reason: StopReason,
): PodPlan {
  const all = [...members.map(({ record }) => record), ...guests];
  const mains = all.filter(({ kind }) => kind !== 'sidecar');
  if (mains.some(isAlive)) return takeDown(all, mains, reason);
  const lastSidecar = all.findLast((record) => record.kind === 'sidecar' && isAlive(record));
  return takeDown(all, lastSidecar === undefined ? [] : [lastSidecar], reason);
}

/**
 * Whether probes gave up containers with policy Never, and no other main container runs or will. A
 * kubelet sees nothing to keep then and kills the whole Pod, before any rule can look at the exit.
 */
function isLeftAlone(members: readonly Member[], spec: PodSpec): boolean {
  const isLost = ({ container, record }: Member): boolean =>
    isGivenUp(record) && effectivePolicy(container, spec) === 'Never';
  const mains = regulars(members);
  return mains.some(isLost) && mains.every((one) => isLost(one) || isFinished(one, spec));
}

function takeDown(
  all: readonly ContainerRecord[],
  now: readonly ContainerRecord[],
  reason: StopReason,
): PodPlan {
  return {
    type: 'take-down',
    stop: now
      .filter(({ life }) => life.state === 'running' && life.stopping !== reason)
      .map(({ name }) => name),
    isDown: !all.some(isAlive),
  };
}

/** An init container failed for good, or a `Terminate` rule ends the Pod. */
function isEndOfPod({ container, kind, record }: Member, spec: PodSpec): boolean {
  const { life } = record;
  if (life.state !== 'exited') return false;
  const { exitCode } = life.terminated;
  if (life.wasStopped === undefined && terminatesPod(container, kind, exitCode)) return true;
  return kind === 'init' && exitCode !== 0 && !shouldRestart(container, kind, spec, exitCode);
}

function isTrigger({ container, record }: Member): boolean {
  const { life } = record;
  return life.state === 'exited' && triggersRestartOfAll(container, life.terminated.exitCode);
}

/** A regular container that ended and stays so. */
function isFinished({ container, kind, record }: Member, spec: PodSpec): boolean {
  const { life } = record;
  if (life.state !== 'exited') return false;
  // A container that a probe gave up restarts with any exit code, unless the policy is Never.
  if (life.wasStopped === 'Unhealthy' && effectivePolicy(container, spec) !== 'Never') return false;
  return !shouldRestart(container, kind, spec, life.terminated.exitCode);
}

function isCompleted(record: ContainerRecord): boolean {
  return record.life.state === 'exited' && record.life.terminated.exitCode === 0;
}

function isGivenUp(record: ContainerRecord): boolean {
  const { life } = record;
  return life.state === 'running' && life.unhealthy !== undefined && life.stopping === undefined;
}

function membersOf(view: PodView): readonly Member[] {
  return containersOf(view.spec).flatMap(({ container, kind }) => {
    const record = view.records.get(container.name);
    return record === undefined ? [] : [{ container, kind, record }];
  });
}

/** Containers that were added for inspection. */
function guestsOf({ spec, records }: PodView): readonly ContainerRecord[] {
  return ephemeralContainersOf(spec).flatMap(({ container }) => records.get(container.name) ?? []);
}

function regulars(members: readonly Member[]): readonly Member[] {
  return members.filter(({ kind }) => kind === 'regular');
}

function inits(members: readonly Member[]): readonly Member[] {
  return members.filter(({ kind }) => kind !== 'regular');
}
