/** Gives every PersistentVolumeClaim a volume, and removes it with the claim. */

import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import type { PersistentVolumeClaim } from '@lockstep/kube/objects/core.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '@lockstep/kube/objects/core.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { startController } from '@lockstep/kube/runtime/controller/controller.ts';
import { type Indexes, type Informer, keyOf } from '@lockstep/kube/runtime/informer/informer.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { claimNamesOf } from './pod-claims.ts';

/**
 * A claim's class, size and access modes do not matter: there is one kind of storage, without an
 * object. A deleted claim stays until the last Pod that is placed with it has ended; then its
 * volume goes, and the claim after it.
 */
export interface VolumeControllerOptions extends MeasuredPorts {
  readonly claims: Informer<PersistentVolumeClaim>;
  /** With `POD_CLAIM_INDEXES`. */
  readonly pods: Informer<Pod>;
  /** Removes the files of the volume. It may have been removed before. */
  readonly removeVolume: (claim: Stored<PersistentVolumeClaim>) => Promise<void>;
}

export const POD_CLAIM_INDEXES: Indexes<Pod> = {
  claim: (pod) => claimNamesOf(pod).map((name) => `${namespaceOf(pod.metadata)}/${name}`),
};

/** Kubernetes' name, which tools that wait for a claim's end know. */
const FINALIZER = 'kubernetes.io/pvc-protection';
const WORKERS = 4;

export function startVolumeController(options: VolumeControllerOptions): { stop(): Promise<void> } {
  const controller = startController({
    ...options,
    name: 'volume',
    workers: WORKERS,
    reconcile: (key, signal) => reconcile(options, key, signal),
  });
  const see = (claim: Stored<PersistentVolumeClaim>): void => controller.enqueue(keyOf(claim));
  options.claims.subscribe({ added: see, updated: see });
  const leave = (pod: Stored<Pod>): void => {
    const { namespace = '' } = pod.metadata;
    for (const name of claimNamesOf(pod)) controller.enqueue(`${namespace}/${name}`);
  };
  options.pods.subscribe({
    updated: (pod) => {
      if (!isPlaced(pod)) leave(pod);
    },
    deleted: leave,
  });
  return { stop: () => controller.stop() };
}

async function reconcile(
  options: VolumeControllerOptions,
  key: string,
  signal: AbortSignal,
): Promise<void> {
  const claim = options.claims.store.get(key);
  if (claim === undefined) return;
  try {
    if (claim.metadata.deletionTimestamp === undefined) await bind(options.client, claim, signal);
    else await release(options, claim, signal);
  } catch (error) {
    // Another writer was quicker: the next event of the claim brings it here again.
    if (!isReason(error, 'NotFound', 'Conflict')) throw error;
  }
}

async function bind(
  client: Client,
  claim: Stored<PersistentVolumeClaim>,
  signal: AbortSignal,
): Promise<void> {
  const { name, namespace = '', uid, resourceVersion, finalizers = [] } = claim.metadata;
  const { volumeName = '', accessModes, resources } = claim.spec ?? {};
  const at = { namespace, name };
  if (!finalizers.includes(FINALIZER) || volumeName === '') {
    const patch = {
      metadata: { uid, resourceVersion, finalizers: [...new Set([...finalizers, FINALIZER])] },
      spec: { volumeName: volumeName === '' ? `pvc-${uid}` : volumeName },
    };
    await client.patch(PERSISTENT_VOLUME_CLAIMS, at, { type: 'merge', patch }, { signal });
  }
  if (claim.status?.phase === 'Bound') return;
  const capacity = isJsonObject(resources) ? resources['requests'] : undefined;
  const patch = { metadata: { uid }, status: { phase: 'Bound', accessModes, capacity } };
  const options = { subresource: 'status', signal } as const;
  await client.patch(PERSISTENT_VOLUME_CLAIMS, at, { type: 'merge', patch }, options);
}

async function release(
  { client, pods, removeVolume }: VolumeControllerOptions,
  claim: Stored<PersistentVolumeClaim>,
  signal: AbortSignal,
): Promise<void> {
  const { name, namespace = '', uid, resourceVersion, finalizers = [] } = claim.metadata;
  if (!finalizers.includes(FINALIZER)) return;
  for (const pod of pods.store.byIndex('claim', keyOf(claim))) if (isPlaced(pod)) return;
  await removeVolume(claim);
  const kept = finalizers.filter((finalizer) => finalizer !== FINALIZER);
  const patch = { metadata: { uid, resourceVersion, finalizers: kept } };
  const at = { namespace, name };
  await client.patch(PERSISTENT_VOLUME_CLAIMS, at, { type: 'merge', patch }, { signal });
}

/** Whether the Pod is on a node and has not ended: it may have the volume's files open. */
function isPlaced({ spec, status }: Pod): boolean {
  const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return spec.nodeName !== undefined && !hasEnded;
}
