/**
 * Watches nodes by their Leases, and Pods on nodes in trouble: the work of Kubernetes' controllers
 * for node lifecycle, taint eviction and Pod garbage collection.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import { disruption } from '@lockstep/kube/objects/disruption.ts';
import type { Lease } from '@lockstep/kube/objects/lease.ts';
import { NODES, type Node } from '@lockstep/kube/objects/node.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import {
  type Controller,
  type ReconcileResult,
  startController,
} from '@lockstep/kube/runtime/controller/controller.ts';
import {
  type EventRecorder,
  referenceTo,
} from '@lockstep/kube/runtime/controller/event-recorder.ts';
import { type Indexes, type Informer, keyOf } from '@lockstep/kube/runtime/informer/informer.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { timeText } from '@lockstep/kube/time.ts';
import { EvictionPace, evictionRate, zoneOf } from './eviction-pace.ts';
import {
  awaitsEviction,
  type Eviction,
  lastHeartbeatMs,
  readinessOf,
  silentConditions,
  wantedTaints,
} from './node-health.ts';
import { evictionMs, garbageReason, hasEnded, withCondition } from './pod-eviction.ts';

export interface NodeLifecycleOptions extends MeasuredPorts {
  readonly events: EventRecorder;
  readonly nodes: Informer<Node>;
  /** With `NODE_POD_INDEXES`. */
  readonly pods: Informer<Pod>;
  /** Leases in `kube-node-lease`. */
  readonly leases: Informer<Lease>;
  /** How long a node may be silent; `NODE_MONITOR_GRACE_MS` by default. */
  readonly nodeMonitorGraceMs?: number | undefined;
}

/** Four renewals of a Lease. */
export const NODE_MONITOR_GRACE_MS = 40_000;
/** How long the Pods of a deleted Node are kept, because it may come back under its name. */
const GONE_QUARANTINE_MS = 40_000;
const NODE_WORKERS = 2;
const POD_WORKERS = 4;

export const NODE_POD_INDEXES: Indexes<Pod> = {
  node: ({ spec }) => (spec.nodeName === undefined ? [] : [spec.nodeName]),
};

export function startNodeLifecycle(options: NodeLifecycleOptions): { stop(): Promise<void> } {
  return new NodeLifecycle(options);
}

class NodeLifecycle {
  readonly #options: NodeLifecycleOptions;
  readonly #graceMs: number;
  readonly #nodeLoop: Controller;
  readonly #podLoop: Controller;
  /** By node and taint key, for taints that do not record their own time. */
  readonly #firstSeenMs = new Map<string, number>();
  readonly #pace = new EvictionPace();

  constructor(options: NodeLifecycleOptions) {
    this.#options = options;
    this.#graceMs = options.nodeMonitorGraceMs ?? NODE_MONITOR_GRACE_MS;
    this.#nodeLoop = startController({
      ...options,
      name: 'node-lifecycle',
      workers: NODE_WORKERS,
      reconcile: (name, signal) => this.#reconcileNode(name, signal),
    });
    this.#podLoop = startController({
      ...options,
      name: 'pod-eviction',
      workers: POD_WORKERS,
      reconcile: (key, signal) => this.#reconcilePod(key, signal),
    });
    this.#follow();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#nodeLoop.stop(), this.#podLoop.stop()]);
  }

  #follow(): void {
    const { nodes, pods, leases } = this.#options;
    nodes.subscribe({
      added: (node) => this.#nodeChanged(node),
      updated: (node, old) => {
        this.#nodeChanged(node);
        // Whether any node is ready matters for all of them.
        if (readinessOf(node) !== readinessOf(old)) this.#enqueueAllNodes();
      },
      deleted: (node) => {
        this.#enqueueAllNodes();
        for (const pod of this.#podsOf(node.metadata.name)) {
          this.#podLoop.enqueueAfter(keyOf(pod), GONE_QUARANTINE_MS);
        }
      },
    });
    const renewed = ({ metadata }: Stored<Lease>): void => this.#nodeLoop.enqueue(metadata.name);
    leases.subscribe({ added: renewed, updated: renewed, deleted: renewed });
    const see = (pod: Stored<Pod>): void => {
      const { nodeName } = pod.spec;
      if (nodeName === undefined) return;
      if (nodes.store.get(nodeName) !== undefined) this.#podLoop.enqueue(keyOf(pod));
      else this.#podLoop.enqueueAfter(keyOf(pod), GONE_QUARANTINE_MS);
    };
    pods.subscribe({ added: see, updated: see });
  }

  #nodeChanged(node: Stored<Node>): void {
    this.#nodeLoop.enqueue(node.metadata.name);
    const nowMs = this.#options.clock.now();
    for (const { key, effect } of node.spec?.taints ?? []) {
      const id = seenKey(node.metadata.name, key);
      if (effect === 'NoExecute' && !this.#firstSeenMs.has(id)) this.#firstSeenMs.set(id, nowMs);
    }
    this.#forgetTaints(node);
    for (const pod of this.#podsOf(node.metadata.name)) this.#podLoop.enqueue(keyOf(pod));
  }

  #forgetTaints({ metadata: { name }, spec }: Stored<Node>): void {
    const present = new Set((spec?.taints ?? []).map(({ key }) => seenKey(name, key)));
    for (const id of this.#firstSeenMs.keys()) {
      if (id.startsWith(`${name} `) && !present.has(id)) this.#firstSeenMs.delete(id);
    }
  }

  #enqueueAllNodes(): void {
    for (const node of this.#options.nodes.store.values()) {
      this.#nodeLoop.enqueue(node.metadata.name);
    }
  }

  #podsOf(node: string): readonly Stored<Pod>[] {
    return [...this.#options.pods.store.byIndex('node', node)];
  }

  async #reconcileNode(name: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { nodes, leases, clock } = this.#options;
    const node = nodes.store.get(name);
    if (node === undefined) return undefined;
    const nowMs = clock.now();
    const lease = leases.store.get(`kube-node-lease/${name}`);
    const silentMs = nowMs - lastHeartbeatMs(node, lease);
    try {
      if (silentMs > this.#graceMs) {
        const conditions = silentConditions(node, nowMs);
        // The event of this write triggers the rest.
        if (conditions !== undefined) return await this.#markSilent(node, conditions, signal);
      }
      const { eviction, waitMs } = this.#eviction(node);
      const taints = wantedTaints(node, eviction, nowMs);
      if (taints !== undefined) await this.#patch(node, { spec: { taints } }, undefined, signal);
      if (readinessOf(node) !== 'True') await this.#markPodsNotReady(node, signal);
      if (waitMs > 0) return Number.isFinite(waitMs) ? { requeueAfterMs: waitMs } : undefined;
    } catch (error) {
      // Another writer was quicker, and its event brings the node here again.
      if (!isReason(error, 'NotFound', 'Conflict')) throw error;
    }
    const leftMs = this.#graceMs - silentMs;
    return leftMs < 0 ? undefined : { requeueAfterMs: leftMs + 1 };
  }

  /** What to do about the Pods of the node now, and when to ask again. */
  #eviction(node: Stored<Node>): { readonly eviction: Eviction; readonly waitMs: number } {
    const nodes = [...this.#options.nodes.store.values()];
    if (nodes.every((each) => readinessOf(each) !== 'True'))
      return { eviction: 'Spare', waitMs: 0 };
    if (!awaitsEviction(node)) return { eviction: 'Keep', waitMs: 0 };
    const zone = zoneOf(node);
    const rate = evictionRate(nodes.filter((each) => zoneOf(each) === zone));
    const waitMs = this.#pace.take(zone, rate, this.#options.clock.monotonic());
    return { eviction: waitMs > 0 ? 'Keep' : 'Evict', waitMs };
  }

  async #markSilent(
    node: Stored<Node>,
    conditions: readonly object[],
    signal: AbortSignal,
  ): Promise<undefined> {
    const { name } = node.metadata;
    await this.#patch(node, { status: { conditions } }, 'status', signal);
    this.#options.logger.warn('a node has fallen silent', { node: name });
    this.#options.events.record({
      regarding: referenceTo(NODES, node),
      type: 'Normal',
      reason: 'NodeNotReady',
      action: 'Monitoring',
      note: `Node ${name} status is now: NodeNotReady`,
    });
  }

  /** Marks Pods of a silent node as not ready, so that clients stop sending requests to them. */
  async #markPodsNotReady(node: Stored<Node>, signal: AbortSignal): Promise<void> {
    const { client, clock, events } = this.#options;
    const since = Date.parse(readySince(node) ?? '') || clock.now();
    for (const pod of this.#podsOf(node.metadata.name)) {
      const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
      if (ready?.status !== 'True' || Date.parse(ready.lastTransitionTime ?? '') > since) continue;
      const { namespace = '', name, uid, resourceVersion } = pod.metadata;
      const lastTransitionTime = timeText(clock.now());
      const conditions = withCondition(pod, { ...ready, status: 'False', lastTransitionTime });
      const patch = { metadata: { uid, resourceVersion }, status: { conditions } };
      const options = { subresource: 'status', signal } as const;
      await client.patch(PODS, { namespace, name }, { type: 'merge', patch }, options);
      events.record({
        regarding: referenceTo(PODS, pod),
        type: 'Warning',
        reason: 'NodeNotReady',
        action: 'Monitoring',
        note: 'Node is not ready',
      });
    }
  }

  async #patch(
    { metadata: { name, uid, resourceVersion } }: Stored<Node>,
    change: object,
    subresource: 'status' | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const patch = { metadata: { uid, resourceVersion }, ...change };
    const options = subresource === undefined ? { signal } : { subresource, signal };
    await this.#options.client.patch(NODES, { name }, { type: 'merge', patch }, options);
  }

  async #reconcilePod(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { pods, nodes, clock } = this.#options;
    const pod = pods.store.get(key);
    const nodeName = pod?.spec.nodeName;
    if (pod === undefined || nodeName === undefined) return undefined;
    const node = nodes.store.get(nodeName);
    try {
      const garbage = garbageReason(pod, node);
      if (garbage !== undefined) {
        await this.#giveUp(pod, garbage, signal);
        return undefined;
      }
      const dueMs = this.#evictionMs(pod, node);
      if (dueMs === undefined) return undefined;
      const waitMs = dueMs - clock.now();
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      await this.#evict(pod, signal);
    } catch (error) {
      if (!isReason(error, 'NotFound', 'Conflict')) throw error;
    }
    return undefined;
  }

  #evictionMs(pod: Stored<Pod>, node: Stored<Node> | undefined): number | undefined {
    if (node === undefined || hasEnded(pod)) return undefined;
    const taints = (node.spec?.taints ?? []).map((taint) => {
      const seenMs = this.#firstSeenMs.get(seenKey(node.metadata.name, taint.key));
      const isTimed = taint.timeAdded !== undefined || seenMs === undefined;
      return isTimed ? taint : { ...taint, timeAdded: new Date(seenMs).toISOString() };
    });
    return evictionMs(pod, taints, this.#options.clock.now());
  }

  async #evict(pod: Stored<Pod>, signal: AbortSignal): Promise<void> {
    const { client, clock, events } = this.#options;
    const { namespace = '', name, uid } = pod.metadata;
    events.record({
      regarding: referenceTo(PODS, pod),
      type: 'Normal',
      reason: 'TaintManagerEviction',
      action: 'Evicting',
      note: `Marking for deletion Pod ${namespace}/${name}`,
    });
    const message = 'Taint manager: deleting due to NoExecute taint';
    const condition = disruption('DeletionByTaintManager', message, clock.now());
    await this.#patchPod(pod, { conditions: withCondition(pod, condition) }, signal);
    await client.delete(PODS, { namespace, name }, { preconditions: { uid }, signal });
  }

  async #giveUp(
    pod: Stored<Pod>,
    reason: 'NodeIsGone' | 'NodeIsOutOfService',
    signal: AbortSignal,
  ): Promise<void> {
    const { client, clock, logger } = this.#options;
    const { namespace = '', name, uid } = pod.metadata;
    // The cache of Nodes may lag behind the cache of Pods.
    if (reason === 'NodeIsGone' && (await this.#exists(pod.spec.nodeName ?? '', signal))) return;
    logger.info('a Pod is given up', { pod: keyOf(pod), reason });
    if (!hasEnded(pod)) {
      const gone = disruption('DeletionByPodGC', 'PodGC: node no longer exists', clock.now());
      const conditions = reason === 'NodeIsGone' ? { conditions: withCondition(pod, gone) } : {};
      await this.#patchPod(pod, { phase: 'Failed', ...conditions }, signal);
    }
    const options = { gracePeriodSeconds: 0, preconditions: { uid }, signal };
    await client.delete(PODS, { namespace, name }, options);
  }

  async #exists(node: string, signal: AbortSignal): Promise<boolean> {
    const get = this.#options.client.get(NODES, { name: node }, { signal });
    return (await unlessGone(get)) !== undefined;
  }

  async #patchPod(pod: Stored<Pod>, status: object, signal: AbortSignal): Promise<void> {
    const { namespace = '', name, uid, resourceVersion } = pod.metadata;
    const patch = { metadata: { uid, resourceVersion }, status };
    const options = { subresource: 'status', signal } as const;
    await this.#options.client.patch(PODS, { namespace, name }, { type: 'merge', patch }, options);
  }
}

function seenKey(node: string, taint: string): string {
  return `${node} ${taint}`;
}

function readySince(node: Node): string | undefined {
  return node.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
}
