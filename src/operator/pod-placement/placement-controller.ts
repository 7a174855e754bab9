/**
 * Repairs exclusive placement of Pods. If a follower is bound to another topology than its
 * leader's, all followers of that Job are deleted, so that they are recreated at the right place. A
 * Job is checked when its leader gets a node and when followers appear. Only metadata is watched;
 * the Pods of that one Job are read for the check.
 */

import {
  controllerOf,
  namespaceOf,
  type PartialObjectMetadata,
  type Stored,
} from '@lockstep/kube/meta.ts';
import { DISRUPTION_TARGET, disruption } from '@lockstep/kube/objects/disruption.ts';
import { NODES } from '@lockstep/kube/objects/node.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { allPages } from '@lockstep/kube/runtime/client/pages.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { forEachConcurrently } from '@lockstep/kube/runtime/concurrency.ts';
import { type Controller, startController } from '@lockstep/kube/runtime/controller/controller.ts';
import type { EventRecorder } from '@lockstep/kube/runtime/controller/event-recorder.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { isReason } from '@lockstep/kube/status.ts';
import {
  isAlive,
  nodeNameOf,
  placementRole,
  planRepair,
  type Repair,
} from '../../jobset/exclusive-placement.ts';
import { JOB_KEY } from '../../jobset/names.ts';

export interface PlacementControllerOptions extends MeasuredPorts {
  readonly events: EventRecorder;
  /** Living Pods of JobSets. */
  readonly pods: Informer<PartialObjectMetadata>;
}

/** Jobs that are checked side by side. */
const WORKERS = 4;
/** Followers of a Job come in bursts, so they are collected for this long. */
const FOLLOWERS_BATCH_MS = 1_000;
/** Upstream's bound for the Pods of one Job. */
const DELETIONS_IN_FLIGHT = 50;
const PAGE_SIZE = 500;

export function startPlacementController(options: PlacementControllerOptions): {
  stop(): Promise<void>;
} {
  const placement = new PlacementController(options);
  const controller = startController({
    ...options,
    name: 'pod-placement',
    workers: WORKERS,
    reconcile: (key, signal) => placement.reconcile(key, signal),
  });
  placement.follow(controller);
  return { stop: () => controller.stop() };
}

class PlacementController {
  readonly #options: PlacementControllerOptions;
  /** UIDs of living leaders that were checked when they had a node. */
  readonly #settled = new Set<string>();

  constructor(options: PlacementControllerOptions) {
    this.#options = options;
  }

  follow(controller: Controller): void {
    const see = (pod: Stored<PartialObjectMetadata>, isNew: boolean): void => {
      const role = placementRole(pod);
      const key = role.kind === 'Free' ? undefined : this.#keyOf(pod, role.kind);
      if (key === undefined) return;
      if (role.kind === 'Follower') {
        if (isNew) controller.enqueueAfter(key, FOLLOWERS_BATCH_MS);
      } else if (!this.#settled.has(pod.metadata.uid)) controller.enqueue(key);
    };
    this.#options.pods.subscribe({
      added: (pod) => see(pod, true),
      updated: (pod, old) => {
        const isNew = pod.metadata.uid !== old.metadata.uid;
        if (isNew) this.#settled.delete(old.metadata.uid);
        see(pod, isNew);
      },
      deleted: ({ metadata }) => void this.#settled.delete(metadata.uid),
    });
  }

  /** `key` is `namespace/job-key`. */
  async reconcile(key: string, signal: AbortSignal): Promise<void> {
    const [namespace = '', jobKey = ''] = key.split('/');
    const pods = await allPages((next) =>
      this.#options.client.list(PODS, {
        namespace,
        labelSelector: `${JOB_KEY}=${jobKey}`,
        limit: PAGE_SIZE,
        ...next,
        signal,
      }),
    );
    for (const leader of pods) {
      const role = placementRole(leader);
      const nodeName = nodeNameOf(leader);
      if (role.kind !== 'Leader' || nodeName === undefined || !isAlive(leader)) continue;
      const node = await unlessGone(
        this.#options.client.get(NODES, { name: nodeName }, { signal }),
      );
      const repair = planRepair(leader, role.topologyKey, pods, node);
      await this.#carryOut(repair, leader, role.topologyKey, signal);
      this.#settle(leader);
    }
  }

  #keyOf({ metadata }: Stored<PartialObjectMetadata>, role: string): string | undefined {
    const { namespace = '', name, labels } = metadata;
    const jobKey = labels?.[JOB_KEY];
    if (jobKey !== undefined) return `${namespace}/${jobKey}`;
    if (role === 'Leader') {
      const pod = `${namespace}/${name}`;
      this.#options.logger.error(`job key label not found on leader pod: ${pod}`);
    }
    return undefined;
  }

  #settle({ metadata }: Stored<Pod>): void {
    // No event would remove a Pod that has left the watch meanwhile.
    const known = this.#options.pods.store.get(`${namespaceOf(metadata)}/${metadata.name}`);
    if (known?.metadata.uid === metadata.uid) this.#settled.add(metadata.uid);
  }

  async #carryOut(
    repair: Repair,
    leader: Stored<Pod>,
    topologyKey: string,
    signal: AbortSignal,
  ): Promise<void> {
    switch (repair.kind) {
      case 'None':
        return;
      case 'Undecided':
        throw new Error(repair.why);
      case 'Delete': {
        const { followers, topology } = repair;
        const place = `${topologyKey}=${topology}`;
        this.#report(
          leader,
          `deleting ${followers.length} follower pods: not all of them are bound to ${place}, ` +
            `where leader pod ${leader.metadata.name} is`,
        );
        await forEachConcurrently(followers, DELETIONS_IN_FLIGHT, async (pod) => {
          await this.#remove(pod, signal);
        });
      }
    }
  }

  #report(leader: Stored<Pod>, note: string): void {
    const { namespace = '' } = leader.metadata;
    const job = controllerOf(leader.metadata);
    this.#options.logger.info(note, { namespace, job: job?.name });
    if (job === undefined) return;
    const { apiVersion, kind, name, uid } = job;
    this.#options.events.record({
      regarding: { apiVersion, kind, namespace, name, uid },
      type: 'Warning',
      reason: VIOLATION,
      action: 'Reconciling',
      note,
    });
  }

  /** First writes the reason into the Pod's status, so that a Pod failure policy can ignore it. */
  async #remove(pod: Pod, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    const { namespace = '', name = '', uid = '' } = pod.metadata;
    const at = { namespace, name };
    try {
      if (!isDisrupted(pod)) {
        const condition = disruption(VIOLATION, VIOLATION_MESSAGE, clock.now());
        const patch = { metadata: { uid }, status: { conditions: [condition] } };
        const options = { subresource: 'status', signal } as const;
        await client.patch(PODS, at, { type: 'strategic', patch }, options);
      }
      const preconditions = { uid };
      await client.delete(PODS, at, { propagationPolicy: 'Background', preconditions, signal });
    } catch (error) {
      // The Pod is gone, or another one has the name now.
      if (!isReason(error, 'NotFound', 'Conflict')) throw error;
    }
  }
}

const VIOLATION = 'ExclusivePlacementViolation';
const VIOLATION_MESSAGE = 'Pod violated JobSet exclusive placement policy';

function isDisrupted({ status }: Pod): boolean {
  const condition = status?.conditions?.find(({ type }) => type === DISRUPTION_TARGET);
  return condition?.status === 'True';
}
