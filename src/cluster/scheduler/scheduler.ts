import { deepEqual } from '../../kube/deep-equal.ts';
import type { KubeObject, Stored } from '../../kube/meta.ts';
import { NODES, type Node } from '../../kube/node.ts';
import { PODS, type Pod } from '../../kube/pod.ts';
import { isReason } from '../../kube/status.ts';
import { timeText } from '../../kube/time.ts';
import type { Client } from '../../runtime/client.ts';
import { type Controller, startController } from '../../runtime/controller.ts';
import { type EventRecorder, referenceTo } from '../../runtime/event-recorder.ts';
import { type Informer, keyOf } from '../../runtime/informer.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Logger } from '../../runtime/ports/logger.ts';
import type { Random } from '../../runtime/ports/random.ts';
import { NodeLoads } from './node-loads.ts';
import { placePod } from './placement.ts';
import { requestsOf } from './resource-amounts.ts';

/**
 * Binds Pods to nodes. A decision and its reservation happen in one synchronous step, so bindings
 * may be in flight side by side without two Pods taking the same room. Pods that fit nowhere are
 * tried again when a node changes or a Pod leaves one. Affinity and preemption are not looked at.
 */
export interface SchedulerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly events: EventRecorder;
  readonly metrics?: Metrics | undefined;
}

const BINDINGS_IN_FLIGHT = 16;
/** `spec.schedulerName` of Pods that are ours; absent means the same. */
const OUR_NAME = 'default-scheduler';

export function startScheduler(options: SchedulerOptions): { stop(): Promise<void> } {
  const scheduler = new Scheduler(options);
  const controller = startController({
    ...options,
    name: 'scheduler',
    workers: BINDINGS_IN_FLIGHT,
    reconcile: (key, signal) => scheduler.schedule(key, signal),
  });
  scheduler.follow(controller);
  return { stop: () => controller.stop() };
}

/** `v1 Binding`, the body of `POST pods/NAME/binding`. */
interface Binding extends KubeObject {
  readonly target: { readonly apiVersion: string; readonly kind: 'Node'; readonly name: string };
}

class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #loads = new NodeLoads();
  /** Keys of Pods that fit nowhere at their last try. */
  readonly #unschedulable = new Set<string>();
  #enqueue: (key: string) => void = () => undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  follow(controller: Controller): void {
    const { pods, nodes } = this.#options;
    this.#enqueue = controller.enqueue;
    const retryAll = (): void => this.#retryAll();
    const leave = (pod: Stored<Pod>): void => this.#leave(pod);
    const see = (pod: Stored<Pod>): void => {
      const { nodeName } = pod.spec;
      if (hasEnded(pod)) leave(pod);
      else if (nodeName !== undefined) {
        this.#loads.place(pod.metadata.uid, nodeName, requestsOf(pod));
      } else if (isWaiting(pod)) controller.enqueue(keyOf(pod));
    };
    pods.subscribe({
      added: see,
      updated: (pod, old) => {
        if (!isOwnWrite(pod, old)) see(pod);
      },
      deleted: (pod) => {
        this.#unschedulable.delete(keyOf(pod));
        leave(pod);
      },
    });
    nodes.subscribe({
      added: retryAll,
      updated: (node, old) => {
        if (!deepEqual(schedulingFacts(node), schedulingFacts(old))) retryAll();
      },
    });
  }

  async schedule(key: string, signal: AbortSignal): Promise<void> {
    const pod = this.#options.pods.store.get(key);
    if (pod === undefined || !isWaiting(pod) || this.#loads.isPlaced(pod.metadata.uid)) return;
    const requests = requestsOf(pod);
    const nodes = this.#options.nodes.store.values();
    const placing = placePod(pod, requests, nodes, (node) => this.#loads.of(node));
    if (placing.outcome === 'unschedulable') {
      this.#unschedulable.add(key);
      await this.#refuse(pod, placing.message, signal);
      return;
    }
    this.#loads.place(pod.metadata.uid, placing.node, requests);
    try {
      await this.#bind(pod, placing.node, signal);
    } catch (error) {
      this.#leave(pod);
      // The Pod is gone, or another scheduler was quicker: its next event tells.
      if (isReason(error, 'NotFound', 'Conflict')) return;
      throw error;
    }
  }

  #leave(pod: Stored<Pod>): void {
    if (this.#loads.remove(pod.metadata.uid)) this.#retryAll();
  }

  #retryAll(): void {
    const keys = [...this.#unschedulable];
    this.#unschedulable.clear();
    keys.forEach(this.#enqueue);
  }

  async #bind(pod: Stored<Pod>, node: string, signal: AbortSignal): Promise<void> {
    const { name, namespace = '', uid } = pod.metadata;
    const binding: Binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { apiVersion: 'v1', kind: NODES.kind as 'Node', name: node },
    };
    const at = { name, namespace };
    await this.#options.client.createSubresource(PODS, at, 'binding', binding, { signal });
    this.#options.events.record({
      regarding: referenceTo(PODS, pod),
      type: 'Normal',
      reason: 'Scheduled',
      action: 'Binding',
      note: `Successfully assigned ${namespace}/${name} to ${node}`,
    });
  }

  async #refuse(pod: Stored<Pod>, message: string, signal: AbortSignal): Promise<void> {
    const { name, namespace = '', uid } = pod.metadata;
    this.#options.events.record({
      regarding: referenceTo(PODS, pod),
      type: 'Warning',
      reason: 'FailedScheduling',
      action: 'Scheduling',
      note: message,
    });
    const old = pod.status?.conditions?.find((condition) => condition.type === 'PodScheduled');
    if (old?.status === 'False' && old.message === message) return;
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastProbeTime: null,
      lastTransitionTime: timeText(this.#options.clock.now()),
    };
    const patch = { metadata: { uid }, status: { conditions: [condition] } };
    try {
      const options = { subresource: 'status', signal } as const;
      const at = { name, namespace };
      await this.#options.client.patch(PODS, at, { type: 'strategic', patch }, options);
    } catch (error) {
      if (!isReason(error, 'NotFound', 'Conflict')) throw error;
    }
  }
}

function isWaiting(pod: Pod): boolean {
  const { metadata, spec } = pod;
  return (
    spec.nodeName === undefined &&
    metadata.deletionTimestamp === undefined &&
    (spec.schedulingGates ?? []).length === 0 &&
    (spec.schedulerName ?? OUR_NAME) === OUR_NAME &&
    !hasEnded(pod)
  );
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Whether only the status of a waiting Pod changed, as by our own condition: no cause to retry. */
function isOwnWrite(pod: Pod, old: Pod): boolean {
  return isWaiting(pod) && isWaiting(old) && deepEqual(pod.spec, old.spec);
}

/** What decides whether Pods fit; heartbeats change none of it. */
function schedulingFacts({ metadata, spec, status }: Node): unknown {
  const ready = status?.conditions?.find((condition) => condition.type === 'Ready')?.status;
  return [metadata.labels, spec, status?.allocatable, status?.capacity, ready];
}
