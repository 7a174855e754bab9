/**
 * Containers of a Pod that an earlier life of this node has run. Their processes were children of
 * that life, so what the API shows as running is lost.
 */
import type { ContainerStatus, Pod } from '../../kube/pod.ts';
import {
  type ContainerKind,
  type ContainerRecord,
  containersOf,
  exited,
  FRESH,
  freshRecord,
  KILLED_EXIT_CODE,
  LOST_MESSAGE,
  LOST_REASON,
  RESTARTING_ALL_REASON,
} from './container-record.ts';

/** One record for each container: fresh ones for a Pod that has no statuses yet. */
export function adoptedRecords(pod: Pod, nowMs: number): readonly ContainerRecord[] {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const statuses = new Map(
    [...initContainerStatuses, ...containerStatuses].map((status) => [status.name, status]),
  );
  return containersOf(pod.spec).map(({ container, kind }) => {
    const status = statuses.get(container.name);
    const fresh = freshRecord(container.name, kind);
    return status === undefined ? fresh : adopted(fresh, kind, status, nowMs);
  });
}

function adopted(
  fresh: ContainerRecord,
  kind: ContainerKind,
  { state, lastState, restartCount, containerID }: ContainerStatus,
  nowMs: number,
): ContainerRecord {
  const record = { ...fresh, restartCount, lastTerminated: lastState?.terminated };
  if (state?.terminated !== undefined) {
    const { terminated } = state;
    const finishedMs = Date.parse(terminated.finishedAt ?? '') || nowMs;
    const hasPassed = kind === 'init' && terminated.exitCode === 0;
    return { ...exited(record, terminated, finishedMs), hasPassed };
  }
  if (state?.running === undefined) {
    const isRestart =
      record.lastTerminated !== undefined && record.lastTerminated.reason !== RESTARTING_ALL_REASON;
    return { ...record, life: { ...FRESH, isRestart } };
  }
  const { startedAt } = state.running;
  return exited(
    record,
    {
      exitCode: KILLED_EXIT_CODE,
      reason: LOST_REASON,
      message: LOST_MESSAGE,
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(containerID === undefined ? {} : { containerID }),
    },
    nowMs,
  );
}
