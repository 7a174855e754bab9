/** What is known of the failure that ended an epoch. */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { ContainerStateTerminated, ContainerStatus, Pod } from '@lockstep/kube/objects/pod.ts';
import type { RestartWitness } from '../jobset-status.ts';
import { AGENT_CONTAINER_NAME, UPSTREAM_AGENT_CONTAINER_NAME } from '../names.ts';
import type { PodFacts } from '../roster/pod-facts.ts';
import { isTrue } from '../status/conditions.ts';
import type { Exit } from '../worker-end/worker-end.ts';

/**
 * The failure as one read of the first failing Pod shows it. A Pod that restarted in place does not
 * show how its containers ended, because the kubelet replaces their exit codes. A supervising
 * agent's notice, or an earlier version of the Pod, may still show it; otherwise it is unknown
 * (`docs/design/end-hazards.md#a-restart-hides-its-cause`).
 */
export interface Witness {
  readonly record: RestartWitness;
  /** Completion index of its Pod. */
  readonly slot?: string | undefined;
  /** When the container ended, by the node's clock, to the second. */
  readonly finishedMs: number | undefined;
  /** Whether the Pod shows a failure that is under way, and not only its own end. */
  readonly showsFailure: boolean;
}

/**
 * `pod` is undefined if it is gone; `earlier` are its earlier versions, the oldest first. Ends
 * before `sinceMs` belong to an earlier epoch.
 */
export function witnessOf(
  facts: PodFacts,
  pod: Pod | undefined,
  predecessor: Pod | undefined,
  sinceMs: number | undefined,
  earlier: readonly Pod[] = [],
): Witness {
  const hidden = hiddenFailure(pod, earlier, sinceMs);
  const end = lastFailure(pod, sinceMs) ?? hidden ?? lastFailure(predecessor, sinceMs);
  const exit = reportedExit(facts);
  // A new Pod only announces that its predecessor has failed.
  const failed = end?.pod ?? (exit === undefined ? (predecessor ?? pod) : pod);
  const node = failed?.spec.nodeName;
  return {
    record: {
      pod: failed?.metadata.name ?? facts.name,
      ...(node === undefined ? {} : { node }),
      ...(end === undefined && exit === undefined
        ? { exitCode: null, reason: reasonOf(pod, predecessor) }
        : failureOf(end, exit, pod)),
    },
    slot: facts.slot,
    finishedMs: end === undefined ? undefined : finishMs(end.terminated),
    showsFailure: showsFailure(pod, sinceMs, hidden),
  };
}

/**
 * Whether the Pod's containers have been restarted since the release of its epoch. Then the Pod hides
 * how they ended, and its earlier versions may show it.
 */
export function hidesFailure(pod: Pod, sinceMs: number): boolean {
  if (lastFailure(pod, sinceMs) !== undefined) return false;
  return containerStatuses(pod).some((status) => isRunAfter(status, sinceMs));
}

/**
 * Whether the node of one of these Pods may be lost: its control plane marks all its Pods as not
 * ready. A deletion may cause that too.
 */
export function mayBeLost(...pods: readonly (Pod | undefined)[]): boolean {
  return pods.some(
    (pod) =>
      pod?.metadata.deletionTimestamp !== undefined ||
      pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'False'),
  );
}

/** The witness of a Pod whose node is not ready, or gone: that says more than the Pod's state. */
export function onLostNode(witness: Witness): Witness {
  return { ...witness, record: { ...witness.record, reason: 'NodeLost' } };
}

/**
 * The witness in one phrase: `container worker of Pod a-0-1 on node n exited with code 1 (Error),
 * worker 1 of a (a-0, index 1)`.
 */
export function describeWitness(witness: RestartWitness): string {
  return `${describeEnd(witness)}${witness.worker === undefined ? '' : `, ${witness.worker}`}`;
}

/** The text that failure policies match: users' patterns may end where it ends. */
export function describeEnd(witness: RestartWitness): string {
  const container = witness.container === undefined ? '' : `container ${witness.container} of `;
  const node = witness.node === undefined ? '' : ` on node ${witness.node}`;
  return `${container}Pod ${witness.pod}${node} ${endInWords(witness)}`;
}

/** `exited with code 1 (Error)` */
export function endInWords(witness: RestartWitness): string {
  const end =
    witness.message !== undefined
      ? witness.message
      : witness.signal !== undefined
        ? `was killed by ${witness.signal}`
        : witness.exitCode !== null
          ? `exited with code ${witness.exitCode}`
          : (WITHOUT_CODE.get(witness.reason) ?? 'failed');
  return `${end} (${witness.reason})`;
}

/** Reasons without an exit code: something is gone, and it is not known whether it failed. */
const WITHOUT_CODE: ReadonlyMap<string, string> = new Map([
  ['PodDeleted', 'is gone'],
  ['PodReplaced', 'replaced a Pod that is gone'],
  ['NodeLost', 'is on a lost node'],
]);

/** Reason of a container whose end the kubelet has hidden behind the restart of its Pod. */
const RESTARTED_REASON = 'RestartingAllContainers';
/** A status has whole seconds, so an end may seem up to a second earlier than it was. */
const STATUS_RESOLUTION_MS = 1000;
const SIGNAL_CODES = 128;

interface ContainerEnd {
  readonly pod: Pod;
  readonly container: string;
  readonly terminated: ContainerStateTerminated;
}

function failureOf(
  end: ContainerEnd | undefined,
  exit: Exit | undefined,
  pod: Pod | undefined,
): Pick<RestartWitness, 'container' | 'exitCode' | 'signal' | 'reason'> {
  if (exit !== undefined) {
    // The worker of a supervisor is the first container of its Pod.
    const named = defined({ container: pod?.spec.containers[0]?.name });
    return 'signal' in exit
      ? { ...named, exitCode: null, signal: exit.signal, reason: 'WorkerKilled' }
      : { ...named, exitCode: exit.exitCode, reason: 'WorkerExited' };
  }
  if (end === undefined) return { exitCode: null, reason: 'Unknown' };
  const { exitCode, reason, signal } = end.terminated;
  const name = SIGNALS.get(signal ?? exitCode - SIGNAL_CODES);
  return {
    container: end.container,
    exitCode,
    ...(name === undefined ? {} : { signal: name }),
    reason: reason ?? 'Error',
  };
}

/** The exit that a supervisor reported for the worker of the epoch before. */
function reportedExit({ notice, epoch }: PodFacts): Exit | undefined {
  const isLast = epoch === undefined || notice?.epoch === epoch - 1;
  return isLast ? notice?.end?.exit : undefined;
}

function lastFailure(pod: Pod | undefined, sinceMs: number | undefined): ContainerEnd | undefined {
  if (pod === undefined) return undefined;
  let last: ContainerEnd | undefined;
  for (const status of containerStatuses(pod)) {
    if (isAgent(status)) continue;
    for (const terminated of [status.lastState?.terminated, status.state?.terminated]) {
      if (terminated === undefined || !isFailure(terminated, sinceMs)) continue;
      if (last !== undefined && (finishMs(terminated) ?? 0) < (finishMs(last.terminated) ?? 0)) {
        continue;
      }
      last = { pod, container: status.name, terminated };
    }
  }
  return last;
}

/**
 * The end that the restart of all containers has hidden: the first end in the first earlier version
 * that shows one. It must belong to the run before the present one, in this epoch. The restart ends
 * other containers later. Undefined if this cannot be decided.
 */
function hiddenFailure(
  pod: Pod | undefined,
  earlier: readonly Pod[],
  sinceMs: number | undefined,
): ContainerEnd | undefined {
  if (pod === undefined || sinceMs === undefined) return undefined;
  const present = new Map(containerStatuses(pod).map((status) => [status.name, status]));
  for (const version of earlier) {
    const ends = containerStatuses(version).flatMap((status) => {
      const now = present.get(status.name);
      const terminated = status.state?.terminated;
      const isLastRun =
        now !== undefined &&
        now.restartCount === status.restartCount + 1 &&
        isRunAfter(now, sinceMs);
      const isEnd =
        !isAgent(status) && isLastRun && terminated !== undefined && isIn(terminated, sinceMs);
      return isEnd ? [{ pod: version, container: status.name, terminated }] : [];
    });
    if (ends.length > 0) return onlyFirst(ends);
  }
  return undefined;
}

/** A run that began after the release, or has not begun, of a container that has run before. */
function isRunAfter({ state, restartCount }: ContainerStatus, sinceMs: number): boolean {
  if (restartCount === 0) return false;
  const startedAt = state?.running?.startedAt;
  return state?.running === undefined || Date.parse(startedAt ?? '') > sinceMs;
}

/** Whether a container failed after the release, as far as whole seconds show. */
function isIn(terminated: ContainerStateTerminated, sinceMs: number): boolean {
  const finished = finishMs(terminated);
  const sinceSecondMs = sinceMs - (sinceMs % STATUS_RESOLUTION_MS);
  return isFailure(terminated, sinceMs) && finished !== undefined && finished >= sinceSecondMs;
}

/** Undefined if several ended in the first second: one of them caused the others. */
function onlyFirst(ends: readonly ContainerEnd[]): ContainerEnd | undefined {
  const times = ends.map(({ terminated }) => finishMs(terminated) ?? 0);
  const firstMs = Math.min(...times);
  const first = ends.filter((_, i) => times[i] === firstMs);
  return first.length === 1 ? first[0] : undefined;
}

function isFailure(terminated: ContainerStateTerminated, sinceMs: number | undefined): boolean {
  if (terminated.exitCode === 0 || terminated.reason === RESTARTED_REASON) return false;
  const finished = finishMs(terminated);
  if (finished === undefined || sinceMs === undefined) return true;
  return finished >= sinceMs - STATUS_RESOLUTION_MS;
}

function reasonOf(pod: Pod | undefined, predecessor: Pod | undefined): string {
  if (predecessor !== undefined) return predecessor.status?.reason ?? 'PodFailed';
  if (pod === undefined) return 'PodDeleted';
  const wasRestarted = containerStatuses(pod).some(({ restartCount }) => restartCount > 0);
  return wasRestarted ? 'PodRestarted' : 'PodReplaced';
}

/** Shows a failed container or the restart of all, not only the Pod's own end or deletion. */
function showsFailure(
  pod: Pod | undefined,
  sinceMs: number | undefined,
  hidden: ContainerEnd | undefined,
): boolean {
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return false;
  if (hidden !== undefined) return true;
  if (isTrue(pod.status?.conditions, 'AllContainersRestarting')) return true;
  return containerStatuses(pod).some(
    (status) =>
      !isAgent(status) &&
      status.state?.terminated !== undefined &&
      isFailure(status.state.terminated, sinceMs),
  );
}

function containerStatuses({ status }: Pod): readonly ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

/** An agent's exit is the consequence of a failure, never its cause. */
function isAgent({ name }: ContainerStatus): boolean {
  return name === AGENT_CONTAINER_NAME || name === UPSTREAM_AGENT_CONTAINER_NAME;
}

function finishMs({ finishedAt }: ContainerStateTerminated): number | undefined {
  const time = Date.parse(finishedAt ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/** The signals that end processes, by their number on Linux. */
const SIGNALS: ReadonlyMap<number, string> = new Map([
  [1, 'SIGHUP'],
  [2, 'SIGINT'],
  [3, 'SIGQUIT'],
  [4, 'SIGILL'],
  [6, 'SIGABRT'],
  [7, 'SIGBUS'],
  [8, 'SIGFPE'],
  [9, 'SIGKILL'],
  [10, 'SIGUSR1'],
  [11, 'SIGSEGV'],
  [12, 'SIGUSR2'],
  [13, 'SIGPIPE'],
  [14, 'SIGALRM'],
  [15, 'SIGTERM'],
]);
