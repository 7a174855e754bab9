/**
 * The status of a container in the API, from the node's record: states, last state, restart count
 * and identity.
 */
import type {
  Container,
  ContainerState,
  ContainerStatus,
  Pod,
} from '@lockstep/kube/objects/pod.ts';
import { timeText } from '@lockstep/kube/time.ts';
import {
  type ContainerRecord,
  type SettledRecord,
  settled,
} from '../container/container-record.ts';
import { allContainersOf } from '../pod-containers.ts';
import type { Statuses } from './pod-phase.ts';

export interface ContainerStatuses {
  readonly init: readonly ContainerStatus[];
  readonly regular: readonly ContainerStatus[];
  readonly ephemeral: readonly ContainerStatus[];
  /** Without the ephemeral ones, which do not affect the Pod. */
  readonly byName: Statuses;
}

export function containerStatuses(
  pod: Pod,
  records: ReadonlyMap<string, ContainerRecord>,
): ContainerStatuses {
  const waitingReason =
    (pod.spec.initContainers?.length ?? 0) > 0 ? 'PodInitializing' : 'ContainerCreating';
  const init: ContainerStatus[] = [];
  const regular: ContainerStatus[] = [];
  const ephemeral: ContainerStatus[] = [];
  for (const { container, kind } of allContainersOf(pod.spec)) {
    const record = records.get(container.name);
    if (record === undefined) continue;
    const status = statusOf(container, settled(record), waitingReason);
    if (kind === 'ephemeral') ephemeral.push(status);
    else (kind === 'regular' ? regular : init).push(status);
  }
  const byName = new Map([...init, ...regular].map((status) => [status.name, status]));
  return { init, regular, ephemeral, byName };
}

function statusOf(
  container: Container,
  record: SettledRecord,
  waitingReason: string,
): ContainerStatus {
  const image = container.image ?? '';
  const containerID = containerIdOf(record);
  return {
    name: record.name,
    state: stateOf(record, waitingReason),
    lastState: record.lastTerminated === undefined ? {} : { terminated: record.lastTerminated },
    ready: isReady(record),
    restartCount: record.restartCount,
    image,
    // Images are names here: nothing was pulled that could have an identity of its own.
    imageID: record.life.state === 'running' || record.life.state === 'exited' ? image : '',
    ...(containerID === undefined ? {} : { containerID }),
    started: record.life.state === 'running' && record.life.started,
  };
}

function stateOf({ life }: SettledRecord, waitingReason: string): ContainerState {
  switch (life.state) {
    case 'waiting':
      return {
        waiting: {
          reason: life.reason ?? waitingReason,
          ...(life.message === undefined ? {} : { message: life.message }),
        },
      };
    case 'running':
      return { running: { startedAt: timeText(life.startedMs) } };
    case 'exited':
      return { terminated: life.terminated };
  }
}

function isReady({ life, kind }: SettledRecord): boolean {
  switch (life.state) {
    case 'waiting':
      return life.ready;
    case 'running':
      return life.ready;
    case 'exited':
      return kind === 'init' && life.terminated.exitCode === 0;
  }
}

function containerIdOf({ life }: SettledRecord): string | undefined {
  switch (life.state) {
    case 'waiting':
    case 'running':
      return life.containerID;
    case 'exited':
      return life.terminated.containerID;
  }
}
