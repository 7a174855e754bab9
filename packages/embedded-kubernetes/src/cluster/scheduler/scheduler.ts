/** The scheduler: binds Pods to nodes. */

import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import type { Namespace, PersistentVolumeClaim } from '@lockstep/kube/objects/core.ts';
import { NODES, type Node } from '@lockstep/kube/objects/node.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { type Controller, startController } from '@lockstep/kube/runtime/controller/controller.ts';
import {
  type EventRecorder,
  referenceTo,
} from '@lockstep/kube/runtime/controller/event-recorder.ts';
import { type Informer, keyOf } from '@lockstep/kube/runtime/informer/informer.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { timeText } from '@lockstep/kube/time.ts';
import { claimNamesOf, claimProblem } from '../volume-controller/pod-claims.ts';
import { Neighbourhood } from './neighbours.ts';
import { NodeLoads } from './node-loads.ts';
import { type Placing, placePod, unavailable } from './placement.ts';
import { requestsOf } from './resource-amounts.ts';

/**
 * A decision and its reservation are one synchronous step, so bindings may be in flight side by
 * side without two Pods taking the same room. A Pod that fits nowhere is tried again when a node or
 * a claim changes, a Pod leaves a node, or a needed neighbour arrives. There is no preemption, and
 * topologySpreadConstraints are ignored.
 */
export interface SchedulerOptions extends MeasuredPorts {
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly namespaces: Informer<Namespace>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly events: EventRecorder;
}

const BINDINGS_IN_FLIGHT = 16;
/** The `spec.schedulerName` of our Pods; an absent one counts as this. */
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

/** Fields about placement that this scheduler ignores. */
const IGNORED_FIELDS = ['topologySpreadConstraints', 'schedulingGroup'] as const;

/** `v1 Binding`, the body of `POST pods/NAME/binding`. */
interface Binding extends KubeObject {
  readonly target: { readonly apiVersion: string; readonly kind: 'Node'; readonly name: string };
}

class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #loads = new NodeLoads();
  readonly #neighbourhood: Neighbourhood;
  /** Keys of Pods that fit nowhere at their last try, and whether a neighbour could help. */
  readonly #unschedulable = new Map<string, { readonly awaitsNeighbour: boolean }>();
  #enqueue: (key: string) => void = () => undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    const { nodes, namespaces } = options;
    this.#neighbourhood = new Neighbourhood({
      nodeLabels: (node) => nodes.store.get(node)?.metadata.labels,
      namespaceLabels: (namespace) => namespaces.store.get(namespace)?.metadata.labels,
    });
  }

  follow(controller: Controller): void {
    const { pods, nodes, namespaces, claims } = this.#options;
    this.#enqueue = controller.enqueue;
    const retryAll = (): void => this.#retryAll();
    const leave = (pod: Stored<Pod>): void => this.#leave(pod);
    const see = (pod: Stored<Pod>): void => {
      const { nodeName } = pod.spec;
      if (hasEnded(pod)) leave(pod);
      else if (nodeName !== undefined) {
        this.#place(pod, nodeName);
      } else if (isWaiting(pod)) controller.enqueue(keyOf(pod));
    };
    pods.subscribe({
      added: see,
      updated: (pod, old) => {
        // Another Pod took the name while the watch was interrupted.
        if (pod.metadata.uid !== old.metadata.uid) leave(old);
        if (!isOwnWrite(pod, old) && !isSettled(pod, old)) see(pod);
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
    namespaces.subscribe({
      updated: ({ metadata }, old) => {
        if (!deepEqual(metadata.labels, old.metadata.labels)) retryAll();
      },
    });
    claims.subscribe({ added: retryAll, updated: retryAll });
  }

  async schedule(key: string, signal: AbortSignal): Promise<void> {
    const pod = this.#options.pods.store.get(key);
    if (pod === undefined || !isWaiting(pod) || this.#loads.isPlaced(pod.metadata.uid)) return;
    const placing = this.#decide(pod);
    if (placing.outcome === 'unschedulable') {
      this.#unschedulable.set(key, placing);
      await this.#refuse(pod, placing.message, signal);
      return;
    }
    this.#place(pod, placing.node);
    try {
      await this.#bind(pod, placing.node, signal);
    } catch (error) {
      this.#leave(pod);
      // The Pod is gone, or another scheduler was quicker: its next event brings it here again.
      if (isReason(error, 'NotFound', 'Conflict')) return;
      throw error;
    }
  }

  #decide(pod: Stored<Pod>): Placing {
    const { nodes } = this.#options;
    const problem = this.#claimProblem(pod);
    if (problem !== undefined) {
      const message = unavailable(nodes.store.size, problem);
      return { outcome: 'unschedulable', message, awaitsNeighbour: false };
    }
    return placePod(pod, requestsOf(pod), {
      nodes: nodes.store.values(),
      loadOf: (node) => this.#loads.of(node),
      survey: this.#neighbourhood.survey(pod),
    });
  }

  #claimProblem(pod: Stored<Pod>): string | undefined {
    const { namespace = '' } = pod.metadata;
    for (const name of claimNamesOf(pod)) {
      const claim = this.#options.claims.store.get(`${namespace}/${name}`);
      const problem = claimProblem(name, claim);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #place(pod: Stored<Pod>, node: string): void {
    this.#loads.place(pod.metadata.uid, node, requestsOf(pod));
    this.#neighbourhood.place(pod.metadata.uid, pod, node);
    this.#retry(({ awaitsNeighbour }) => awaitsNeighbour);
  }

  #leave(pod: Stored<Pod>): void {
    this.#neighbourhood.remove(pod.metadata.uid);
    if (this.#loads.remove(pod.metadata.uid)) this.#retryAll();
  }

  #retryAll(): void {
    this.#retry(() => true);
  }

  #retry(concerns: (waiting: { readonly awaitsNeighbour: boolean }) => boolean): void {
    for (const [key, waiting] of this.#unschedulable) {
      if (!concerns(waiting)) continue;
      this.#unschedulable.delete(key);
      this.#enqueue(key);
    }
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
    this.#sayWhatIsIgnored(pod);
  }

  #sayWhatIsIgnored(pod: Stored<Pod>): void {
    const ignored = IGNORED_FIELDS.filter((field) => Object.hasOwn(pod.spec, field));
    if (ignored.length === 0) return;
    this.#options.events.record({
      regarding: referenceTo(PODS, pod),
      type: 'Warning',
      reason: 'FieldsIgnored',
      action: 'Binding',
      note: `this scheduler places each Pod for itself, so these have no effect: ${ignored.join(', ')}`,
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

/** Whether nothing changed about a Pod that matters for placement, as in most events. */
function isSettled(pod: Stored<Pod>, old: Stored<Pod>): boolean {
  return (
    pod.spec.nodeName !== undefined &&
    pod.spec.nodeName === old.spec.nodeName &&
    pod.metadata.uid === old.metadata.uid &&
    !hasEnded(pod) &&
    deepEqual(pod.metadata.labels, old.metadata.labels)
  );
}

/** The properties of a node that decide whether Pods fit; heartbeats change none of them. */
function schedulingFacts({ metadata, spec, status }: Node): unknown {
  const ready = status?.conditions?.find((condition) => condition.type === 'Ready')?.status;
  return [metadata.labels, spec, status?.allocatable, status?.capacity, ready];
}
