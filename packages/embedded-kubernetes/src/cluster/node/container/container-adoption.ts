/**
 * Takes over containers from an earlier life of this node. Their processes were children of that
 * life, so those that the API shows as running are lost.
 */
import type { ContainerStatus, Pod } from '@lockstep/kube/objects/pod.ts';
import { timeText } from '@lockstep/kube/time.ts';
import { allContainersOf, type ContainerKind } from '../pod-containers.ts';
import {
  type ContainerRecord,
  FRESH,
  freshRecord,
  KILLED_EXIT_CODE,
  LOST_MESSAGE,
  LOST_REASON,
  RESTARTING_ALL_REASON,
} from './container-record.ts';
import { exited } from './container-transitions.ts';

/** One record for each container: fresh ones for a Pod without statuses. */
export function adoptedRecords(pod: Pod, nowMs: number): readonly ContainerRecord[] {
  const {
    initContainerStatuses = [],
    containerStatuses = [],
    ephemeralContainerStatuses = [],
  } = pod.status ?? {};
  const statuses = new Map(
    [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses].map(
      (status) => [status.name, status],
    ),
  );
  return allContainersOf(pod.spec).map(({ container, kind }) => {
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
  return lost(record, { startedAt: state.running.startedAt, containerID }, nowMs);
}

/** The container ran, and its exit code is unknown. */
function lost(
  record: ContainerRecord,
  run: { readonly startedAt: string | undefined; readonly containerID: string | undefined },
  nowMs: number,
): ContainerRecord {
  const { startedAt, containerID } = run;
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

/**
 * A container that was alive in the record of an earlier life, without a known process: one that
 * ran is lost, one whose start had just begun is started again.
 */
export function withoutProcess(record: ContainerRecord, nowMs: number): ContainerRecord {
  const { life, lastTerminated } = record;
  if (life.state === 'running') {
    const { startedMs, containerID } = life;
    return lost(record, { startedAt: timeText(startedMs), containerID }, nowMs);
  }
  if (life.state !== 'starting') return record;
  const isRestart = lastTerminated !== undefined && lastTerminated.reason !== RESTARTING_ALL_REASON;
  // The start counts itself.
  const restartCount = record.restartCount - (isRestart ? 1 : 0);
  return { ...record, restartCount, life: { ...FRESH, isRestart } };
}

/**
 * Its process was taken over. A stop under way begins again, because the earlier grace period is
 * unknown.
 */
export function takenOver(record: ContainerRecord, hasExited: boolean): ContainerRecord {
  const { life } = record;
  if (life.state !== 'running' || hasExited) return record;
  return { ...record, life: { ...life, stopping: undefined } };
}
