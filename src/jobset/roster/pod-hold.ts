/** Why a Pod does not run, as its status says. */
import { cutToBytes } from '@lockstep/kube/cut-to-bytes.ts';
import { defined } from '@lockstep/kube/json/defined.ts';
import type { ContainerState, Pod } from '@lockstep/kube/objects/pod.ts';

export interface PodHold {
  /** `Unschedulable`, for example, or `ErrImagePull`. */
  readonly reason: string;
  /** The container that it is about; absent: it is about the Pod. */
  readonly container?: string;
  /** Any text, at most `MAX_HOLD_BYTES`. */
  readonly message?: string;
}

const MAX_HOLD_BYTES = 1024;

/** States through which every container passes when it starts. */
const ON_ITS_WAY: readonly string[] = [
  'PodInitializing',
  'ContainerCreating',
  'RestartingAllContainers',
];

/** Undefined if the Pod runs, or will soon. */
export function podHold({ status = {} }: Pod): PodHold | undefined {
  const { initContainerStatuses = [], containerStatuses = [], conditions = [] } = status;
  for (const { name, state } of [...initContainerStatuses, ...containerStatuses]) {
    const waiting = waitingIn(state);
    if (waiting !== undefined) return hold(waiting.reason, waiting.message, name);
  }
  const unscheduled = conditions.find(
    (condition) => condition.type === 'PodScheduled' && condition.status === 'False',
  );
  if (unscheduled?.reason !== undefined) return hold(unscheduled.reason, unscheduled.message);
  if (status.phase !== 'Failed' || status.reason === undefined) return undefined;
  return hold(status.reason, status.message);
}

function waitingIn(state: ContainerState | undefined) {
  const { reason, message } = state?.waiting ?? {};
  return reason === undefined || ON_ITS_WAY.includes(reason) ? undefined : { reason, message };
}

function hold(reason: string, message: string | undefined, container?: string): PodHold {
  const text = message === undefined ? undefined : cutToBytes(message, MAX_HOLD_BYTES);
  return { reason, ...defined({ container, message: text === '' ? undefined : text }) };
}
