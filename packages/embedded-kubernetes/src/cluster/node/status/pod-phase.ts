/**
 * The phase of a Pod from the statuses of its containers: one container that failed for good does
 * not fail the Pod while another runs or may restart. Succeeded and Failed are final; the caller
 * ensures that.
 */
import type { Container, ContainerStatus, PodPhase, PodSpec } from '@lockstep/kube/objects/pod.ts';
import { RESTARTING_ALL_REASON } from '../container/container-record.ts';
import { shouldRestart, terminatesPod } from '../container/restart-rules.ts';
import { type ContainerKind, containersOf } from '../pod-containers.ts';

export type Statuses = ReadonlyMap<string, ContainerStatus>;

/** `hasEnded`: nothing of the Pod will be started again, under any policy. */
export function phaseOf(spec: PodSpec, statuses: Statuses, hasEnded: boolean): PodPhase {
  const count = countContainers(spec, statuses);
  if (count.podEnders > 0) return 'Failed';
  if (hasEnded) {
    return count.regular > 0 && count.succeeded === count.regular ? 'Succeeded' : 'Failed';
  }
  const isInitialized = hasAnyRegularStarted(spec, statuses);
  if (count.pendingInit > 0 || (count.pendingSidecar > 0 && !isInitialized) || count.waiting > 0) {
    return 'Pending';
  }
  if (count.unknown > 0) return 'Pending';
  if (count.running > 0) return 'Running';
  if (count.stopped === 0) return 'Pending';
  if (count.restartable > 0) return 'Running';
  return count.succeeded === count.stopped ? 'Succeeded' : 'Failed';
}

/** Whether a regular container runs or ended; one that waits for its next start does not count. */
export function hasAnyRegularStarted(spec: PodSpec, statuses: Statuses): boolean {
  return spec.containers.some(({ name }) => {
    const state = statuses.get(name)?.state;
    return state?.running !== undefined || state?.terminated !== undefined;
  });
}

interface Count {
  /** Containers whose end is the Pod's: init containers that failed for good, and Terminate. */
  podEnders: number;
  pendingInit: number;
  pendingSidecar: number;
  running: number;
  waiting: number;
  stopped: number;
  restartable: number;
  succeeded: number;
  unknown: number;
  readonly regular: number;
}

function countContainers(spec: PodSpec, statuses: Statuses): Count {
  const count: Count = {
    podEnders: 0,
    pendingInit: 0,
    pendingSidecar: 0,
    running: 0,
    waiting: 0,
    stopped: 0,
    restartable: 0,
    succeeded: 0,
    unknown: 0,
    regular: spec.containers.length,
  };
  const isNewRound = !spec.containers.some(({ name }) => hasRun(statuses.get(name)));
  for (const { container, kind } of containersOf(spec)) {
    const status = statuses.get(container.name);
    if (endsPod(container, kind, spec, status)) count.podEnders++;
    switch (kind) {
      case 'init':
        countInit(count, status);
        break;
      case 'sidecar':
        countSidecar(count, container, status, isNewRound);
        break;
      case 'regular':
        countRegular(count, container, spec, status);
        break;
    }
  }
  return count;
}

function countInit(count: Count, status: ContainerStatus | undefined): void {
  const { state, lastState } = status ?? {};
  if (state?.terminated !== undefined) return;
  if (state?.running !== undefined || lastState?.terminated === undefined) count.pendingInit++;
}

/** Whether it ran since all containers were last restarted. */
function hasRun(status: ContainerStatus | undefined): boolean {
  const { state, lastState } = status ?? {};
  if (state?.waiting === undefined) return state !== undefined;
  const ended = lastState?.terminated;
  return ended !== undefined && ended.reason !== RESTARTING_ALL_REASON;
}

/**
 * Counts a sidecar. A kubelet's phase is one status behind its report of a sidecar. A sidecar
 * without a startup probe counts as pending until what follows has started. One with that probe
 * counts as pending for the first status with `started`, the only one that shows it for a container
 * that is not ready yet.
 */
function countSidecar(
  count: Count,
  { startupProbe, readinessProbe }: Container,
  status: ContainerStatus | undefined,
  isNewRound: boolean,
): void {
  if (status === undefined) {
    count.unknown++;
  } else if (status.state?.running !== undefined) {
    const isLate =
      startupProbe === undefined ? isNewRound : readinessProbe === undefined && !status.ready;
    if (status.started !== true || isLate) count.pendingSidecar++;
    count.running++;
  } else if (status.state?.terminated === undefined && status.lastState?.terminated === undefined) {
    count.pendingSidecar++;
    count.waiting++;
  }
}

function countRegular(
  count: Count,
  container: Container,
  spec: PodSpec,
  status: ContainerStatus | undefined,
): void {
  if (status === undefined) {
    count.unknown++;
    return;
  }
  if (status.state?.running !== undefined) {
    count.running++;
    return;
  }
  const isTerminated = status.state?.terminated !== undefined;
  const ended = status.state?.terminated ?? status.lastState?.terminated;
  if (ended === undefined) {
    count.waiting++;
    return;
  }
  count.stopped++;
  if (isTerminated && ended.exitCode === 0) count.succeeded++;
  const isRestarting = ended.reason === RESTARTING_ALL_REASON;
  if (isRestarting || shouldRestart(container, 'regular', spec, ended.exitCode)) {
    count.restartable++;
  }
}

function endsPod(
  container: Container,
  kind: ContainerKind,
  spec: PodSpec,
  status: ContainerStatus | undefined,
): boolean {
  const ended = status?.state?.terminated ?? status?.lastState?.terminated;
  if (ended === undefined || status?.state?.running !== undefined) return false;
  if (ended.reason === RESTARTING_ALL_REASON) return false;
  if (terminatesPod(container, kind, ended.exitCode)) return true;
  const hasFailed = kind === 'init' && ended.exitCode !== 0;
  return hasFailed && !shouldRestart(container, kind, spec, ended.exitCode);
}
