/**
 * What the API is told of one Pod: its status is computed anew whenever something may have changed,
 * and written if it did. The newest status is known here, written or not.
 */
import { deepEqual } from '../../../kube/json/deep-equal.ts';
import type { Pod, PodCondition, PodStatus } from '../../../kube/objects/pod.ts';
import type { NodeContext } from '../node-context.ts';
import { type NodePodStatus, type PodStatusFacts, podStatus } from './pod-status.ts';
import { type StatusImportance, StatusWriter } from './status-writer.ts';

/** What the Pod's worker knows; the rest is known here. */
export type ReportedFacts = Omit<
  PodStatusFacts,
  'pod' | 'hostIP' | 'startedMs' | 'previous' | 'nowMs'
>;

export class PodReport {
  /** When the node saw the Pod first; wall time. */
  readonly startedMs: number;
  readonly #context: NodeContext;
  readonly #writer: StatusWriter;
  readonly #onVisible: () => void;
  #status: NodePodStatus | undefined;

  /** `onVisible`: what other Pods see of this one has changed, its address or its readiness. */
  constructor(context: NodeContext, pod: Pod, onVisible: () => void) {
    const { client, clock, logger } = context;
    this.#context = context;
    this.#writer = new StatusWriter(pod, client, clock, logger);
    this.#onVisible = onVisible;
    this.startedMs = clock.now();
  }

  /** Undefined before the first one of this life of the node. */
  get status(): NodePodStatus | undefined {
    return this.#status;
  }

  publish(pod: Pod, facts: ReportedFacts, importance: StatusImportance): void {
    const { network, clock } = this.#context;
    const shown = this.#status ?? pod.status;
    const status = podStatus({
      ...facts,
      pod,
      hostIP: network.hostIP,
      startedMs: this.startedMs,
      previous: {
        phase: shown?.phase ?? 'Pending',
        conditions: shown?.conditions ?? [],
        podIP: shown?.podIP,
      },
      nowMs: clock.now(),
    });
    const isSame = deepEqual(status, this.#status);
    this.#status = status;
    if (isSame && importance !== 'must') return;
    this.#writer.write(status, importance);
    if (shown?.podIP !== status.podIP || isReady(shown) !== isReady(status)) this.#onVisible();
  }

  /** The control plane took the node for lost and said that the Pod is not ready: says it again. */
  contradict(theirs: PodStatus | undefined): void {
    const ours = readyCondition(this.#status);
    const other = readyCondition(theirs);
    if (this.#status === undefined || ours?.status !== 'True' || other?.status === 'True') return;
    const isNewer =
      Date.parse(other?.lastTransitionTime ?? '') > Date.parse(ours.lastTransitionTime ?? '');
    if (isNewer) this.#writer.write(this.#status, 'latest');
  }

  /** Resolves once everything was written or given up. */
  flushed(): Promise<void> {
    return this.#writer.flushed();
  }

  /** Nothing is written any more. */
  stop(): void {
    this.#writer.stop();
  }
}

function isReady(status: PodStatus | undefined): boolean {
  return readyCondition(status)?.status === 'True';
}

function readyCondition(status: PodStatus | undefined): PodCondition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}
