/** The surroundings of one slot of the protocol's model, and the controller's view of its Pod. */
import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import { JOB_TRACKING_FINALIZER } from '@lockstep/kube/objects/job.ts';
import { EPOCH, IN_PLACE_RESTART_ATTEMPT, JOBSET_NAME, JOBSET_UID } from '../names.ts';
import type { SlotModel } from './agent-model.fixture.ts';

export type Step = () => void;

/**
 * Everything around a slot. A slot outlives its Pods, so it can check that no worker
 * starts in it twice in one epoch (`docs/design/protocol.md#the-members-barrier`).
 */
export interface PodWorld {
  readonly isSidecar: boolean;
  /** Index of the newest status version. */
  latest(): number;
  /** S(r) and D in that version, for a stage. */
  seen(version: number, stage: number): { readonly released: number; readonly deprecated: number };
  /** The Pod's metadata changed. */
  changed(slot: SlotModel): void;
  ended(slot: SlotModel): void;
  /** The Pod has ended with phase Succeeded. */
  succeeded(slot: SlotModel): void;
  workerStarts(slot: SlotModel): void;
  /** Something in these epochs was lost; `worker` is the epoch whose worker ran, or 0. */
  failed(epochs: readonly number[], worker: number): void;
}

export type StoredPod = Stored<PartialObjectMetadata>;

interface Announced {
  /** 0: none. */
  readonly announced: number;
  /** The Job controller releases a Pod before it deletes it. */
  readonly isReleased: boolean;
}

/** The Pod that the controller would read; every other slot uses upstream's dialect. */
export function podOfSlot(
  { index, podUid, jobUid, jobName, phase }: SlotModel,
  { announced, isReleased }: Announced,
): StoredPod {
  const announcement =
    announced === 0
      ? {}
      : index % 2 === 0
        ? { [EPOCH]: String(announced) }
        : { [IN_PLACE_RESTART_ATTEMPT]: String(announced - 1) };
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: jobName, uid: jobUid };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'default',
      name: `pod-${podUid.replaceAll('/', '-')}`,
      uid: podUid,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { [JOBSET_NAME]: 'train', [JOBSET_UID]: 'jobset-uid' },
      annotations: {
        'batch.kubernetes.io/job-completion-index': String(index),
        ...announcement,
      },
      ownerReferences: [{ ...owner, controller: true }],
      ...(phase === 'terminating' ? { deletionTimestamp: '2026-01-01T01:00:00Z' } : {}),
      ...(isReleased ? {} : { finalizers: [JOB_TRACKING_FINALIZER] }),
    },
  };
}
