/**
 * The garbage collector: deletes objects whose owners are gone, in the order that the deleter asked
 * for.
 */

import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import type { CustomResourceDefinition } from '@lockstep/kube/objects/custom-resource-definition.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import {
  type Controller,
  type ReconcileResult,
  startController,
} from '@lockstep/kube/runtime/controller/controller.ts';
import {
  type EventRecorder,
  referenceTo,
} from '@lockstep/kube/runtime/controller/event-recorder.ts';
import type { Informer, ResourceEventHandler } from '@lockstep/kube/runtime/informer/informer.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { discoverResources } from '../discovery.ts';
import { planCollection } from './collection.ts';
import { ObjectWrites } from './object-writes.ts';
import {
  type GraphObject,
  isDeletingInForeground,
  isOrphaning,
  isWithinReach,
  OwnerGraph,
} from './owner-graph.ts';
import { OwnerStates } from './owner-states.ts';
import { ResourceMonitors } from './resource-monitors.ts';

/**
 * It learns all objects through metadata-only informers of every resource in the discovery
 * documents. It acts only while all of them are complete, because an unknown dependent would let
 * its owner go early.
 */
export interface GarbageCollectorOptions extends MeasuredPorts {
  readonly definitions: Informer<CustomResourceDefinition>;
  readonly startMetadataInformer: (of: Resource) => Informer<PartialObjectMetadata>;
  readonly events: EventRecorder;
}

const WORKERS = 20;
/** How often discovery is read even if no definition changed: upstream's period. */
const DISCOVERY_PERIOD_MS = 30_000;
/** How soon to look again while informers are incomplete. */
const SYNC_RECHECK_MS = 100;
const DISCOVERY_KEY = 'discovery';

export function startGarbageCollector(options: GarbageCollectorOptions): { stop(): Promise<void> } {
  const collector = new GarbageCollector(options);
  const controller = startController({
    ...options,
    name: 'garbagecollector',
    workers: WORKERS,
    reconcile: (uid, signal) => collector.reconcile(uid, signal),
  });
  collector.enqueue = (uid) => controller.enqueue(uid);
  const discovery = startController({
    ...options,
    name: 'garbagecollector-discovery',
    workers: 1,
    reconcile: (_key, signal) => collector.discover(signal),
  });
  const rediscover = (): void => discovery.enqueue(DISCOVERY_KEY);
  rediscover();
  options.definitions.subscribe({
    added: rediscover,
    updated: rediscover,
    deleted: rediscover,
  });
  return { stop: () => stopAll([discovery, controller], collector) };
}

async function stopAll(controllers: readonly Controller[], of: GarbageCollector): Promise<void> {
  await Promise.all(controllers.map((controller) => controller.stop()));
  await of.stop();
}

class GarbageCollector {
  enqueue: (uid: string) => void = () => undefined;
  readonly #client: Client;
  readonly #graph = new OwnerGraph();
  readonly #monitors: ResourceMonitors;
  readonly #owners: OwnerStates;
  readonly #writes: ObjectWrites;
  readonly #events: EventRecorder;

  constructor(options: GarbageCollectorOptions) {
    this.#client = options.client;
    this.#monitors = new ResourceMonitors(options.startMetadataInformer, (resource) =>
      this.#handlerOf(resource),
    );
    this.#owners = new OwnerStates(options.client, this.#graph, this.#monitors);
    this.#writes = new ObjectWrites(options.client);
    this.#events = options.events;
  }

  async discover(signal: AbortSignal): Promise<ReconcileResult> {
    await this.#monitors.follow(await discoverResources(this.#client, signal));
    return { requeueAfterMs: DISCOVERY_PERIOD_MS };
  }

  async reconcile(uid: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    if (!this.#monitors.haveSynced()) return { requeueAfterMs: SYNC_RECHECK_MS };
    const object = this.#graph.get(uid);
    if (object === undefined) return undefined;
    this.#reportOutOfReach(object);
    const states = await this.#owners.of(object, signal);
    const dependents = this.#graph.dependentsOf(object);
    const plan = planCollection(object, dependents, (owner) => states.get(owner.uid) ?? 'unknown');
    switch (plan.action) {
      case 'keep':
        // If an owner's kind is not served now, its dependents are judged once the definition is
        // back.
        return [...states.values()].includes('unknown')
          ? { requeueAfterMs: DISCOVERY_PERIOD_MS }
          : undefined;
      case 'waitFor':
        for (const dependent of plan.dependents) this.enqueue(dependent.metadata.uid);
        return undefined;
      case 'free':
        await this.#writes.disownAll(plan.dependents, uid, signal);
        return undefined;
      case 'disown':
        await this.#writes.disown(object, new Set(plan.owners.map((owner) => owner.uid)), signal);
        return undefined;
      case 'finalize':
        await this.#writes.finalize(object, plan.finalizer, signal);
        return undefined;
      case 'delete':
        if (plan.isCircular && (await this.#writes.unblockOwners(object, signal))) return undefined;
        await this.#writes.delete(object, plan.policy, signal);
        return undefined;
      default:
        return plan satisfies never;
    }
  }

  async stop(): Promise<void> {
    await this.#monitors.stop();
  }

  /** In kube-controller-manager's words: an owner in another namespace does not count. */
  #reportOutOfReach({ resource, metadata }: GraphObject): void {
    const { namespace = '', ownerReferences = [] } = metadata;
    for (const { apiVersion, kind, name, uid } of ownerReferences) {
      const owner = this.#graph.get(uid);
      if (owner === undefined || isWithinReach(owner, metadata)) continue;
      const reference = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
      this.#events.record({
        regarding: referenceTo(resource, { apiVersion: '', kind: '', metadata }),
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        action: 'GarbageCollection',
        note: `ownerRef ${reference} does not exist in namespace "${namespace}"`,
      });
    }
  }

  #handlerOf(resource: Resource): Required<ResourceEventHandler<PartialObjectMetadata>> {
    return {
      added: (object) => {
        this.#graph.put(resource, object);
        this.#saw(object);
      },
      updated: (object, old) => {
        this.#graph.put(resource, object);
        if (deepEqual(collectionFacts(object), collectionFacts(old))) return;
        this.#saw(object);
        this.#enqueueWaitingOwners(old);
      },
      deleted: (object) => this.#sawDeleted(object),
    };
  }

  #saw(object: Stored<PartialObjectMetadata>): void {
    const { uid, ownerReferences = [], deletionTimestamp } = object.metadata;
    if (ownerReferences.length > 0 || deletionTimestamp !== undefined) this.enqueue(uid);
    // All its dependents have to go first, not only those that block it.
    if (isDeletingInForeground(object)) this.#enqueueAll(this.#graph.dependentsOf(object));
  }

  #sawDeleted(object: Stored<PartialObjectMetadata>): void {
    const { uid } = object.metadata;
    this.#owners.sawDeleted(object.metadata);
    this.#graph.remove(uid);
    this.#enqueueAll(this.#graph.dependentsOf(object));
    this.#enqueueWaitingOwners(object);
  }

  /** A waiting owner may be finished now. */
  #enqueueWaitingOwners({ metadata }: PartialObjectMetadata): void {
    for (const { uid } of metadata.ownerReferences ?? []) {
      const owner = this.#graph.get(uid);
      if (owner === undefined) continue;
      if (isDeletingInForeground(owner) || isOrphaning(owner)) this.enqueue(uid);
    }
  }

  #enqueueAll(objects: readonly GraphObject[]): void {
    for (const { metadata } of objects) this.enqueue(metadata.uid);
  }
}

/** Everything that a decision depends on; most updates change none of it. */
function collectionFacts({ metadata }: PartialObjectMetadata): unknown {
  const { ownerReferences, finalizers, deletionTimestamp } = metadata;
  return [ownerReferences, finalizers, deletionTimestamp];
}
