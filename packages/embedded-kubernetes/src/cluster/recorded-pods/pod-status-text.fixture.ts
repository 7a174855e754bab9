/**
 * Writes a Pod's status as a few lines that can be compared between clusters: everything that its
 * node reports, without details of one cluster. Times are left out, a container's identity becomes
 * the number of its run (`#2`), an address the order of its first appearance, and the Pod's full
 * name in messages becomes `POD`.
 */
import type {
  ContainerState,
  ContainerStateTerminated,
  ContainerStatus,
  PodCondition,
  PodStatus,
} from '@lockstep/kube/objects/pod.ts';

export interface StatusText {
  readonly pod: string;
  readonly conditions: readonly string[];
  readonly containers: readonly string[];
}

/** Remembers the runs and addresses that it has seen, so it serves one Pod, in order. */
export class PodStatusReader {
  readonly #runs = new Map<string, string[]>();
  readonly #addresses: string[] = [];

  /** Undefined until the Pod's node has written to the status. */
  read(status: PodStatus | undefined): StatusText | undefined {
    const { phase, podIP, conditions = [] } = status ?? {};
    if (!conditions.some(({ type }) => type === 'Ready')) return undefined;
    const { initContainerStatuses = [], containerStatuses = [] } = status ?? {};
    return {
      pod: `${phase} ${this.#address(podIP)}`,
      conditions: conditions.map(conditionText),
      containers: [...initContainerStatuses, ...containerStatuses].map((one) =>
        this.#container(one),
      ),
    };
  }

  #address(ip: string | undefined): string {
    if (ip === undefined) return 'no address';
    if (!this.#addresses.includes(ip)) this.#addresses.push(ip);
    return `address ${this.#addresses.indexOf(ip) + 1}`;
  }

  #container(status: ContainerStatus): string {
    const { name, containerID, restartCount, ready, started, state, lastState } = status;
    return [
      `${name}: ${stateText(state)}`,
      ...(lastState?.terminated === undefined ? [] : [`before: ${stateText(lastState)}`]),
      ...(ready ? ['ready'] : []),
      ...(started === true ? ['started'] : []),
      `restarts ${restartCount}`,
      ...(containerID === undefined ? [] : [this.#run(name, containerID)]),
    ].join(', ');
  }

  #run(name: string, containerID: string): string {
    const known = this.#runs.get(name) ?? [];
    this.#runs.set(name, known);
    if (!known.includes(containerID)) known.push(containerID);
    return `#${known.indexOf(containerID) + 1}`;
  }
}

function conditionText({
  type,
  status,
  reason,
  message,
  observedGeneration,
}: PodCondition): string {
  const generation = observedGeneration === undefined ? '' : ` of generation ${observedGeneration}`;
  const why = reason === undefined ? '' : ` ${reason}`;
  return `${type}=${status}${generation}${why}${message === undefined ? '' : `: ${message}`}`;
}

function stateText(state: ContainerState | undefined): string {
  if (state?.running !== undefined) return 'running';
  if (state?.waiting !== undefined) {
    const { reason = '', message } = state.waiting;
    return `waiting ${reason}${message === undefined ? '' : ` (${withoutPodName(message)})`}`;
  }
  return state?.terminated === undefined ? 'none' : terminatedText(state.terminated);
}

function terminatedText(terminated: ContainerStateTerminated): string {
  const { exitCode, reason, message, finishedAt, containerID } = terminated;
  const text = message === undefined ? '' : ` (${message})`;
  // A state that a kubelet makes up has neither times nor an identity.
  const isKnown = typeof finishedAt === 'string' && containerID !== undefined;
  return `exit ${exitCode} ${reason}${text}${isKnown ? '' : ' without times'}`;
}

/** Texts of Events and states name the Pod as `name_namespace(uid)`. */
export function withoutPodName(text: string): string {
  return text.replace(/\S+?_\S+\([0-9a-f-]+\)/, (name) =>
    name.startsWith('pod=') ? 'pod=POD' : 'POD',
  );
}
