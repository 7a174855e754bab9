/** The Events of a Pod, with a kubelet's reasons and texts. */
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import {
  type EventRecorder,
  referenceTo,
} from '@lockstep/kube/runtime/controller/event-recorder.ts';
import type { ContainerKind } from '../pod-containers.ts';

export class PodEvents {
  readonly #recorder: EventRecorder;
  readonly #pod: Pod;

  constructor(recorder: EventRecorder, pod: Pod) {
    this.#recorder = recorder;
    this.#pod = pod;
  }

  /** `about`: one of its containers; undefined: the Pod as a whole. */
  record(
    about: { readonly name: string; readonly kind: ContainerKind } | undefined,
    type: 'Normal' | 'Warning',
    reason: string,
    note: string,
  ): void {
    const fieldPath = about && `spec.${LISTS[about.kind]}{${about.name}}`;
    // Without a version, so that repeats are one series however often the Pod changes.
    const { resourceVersion: _, ...regarding } = referenceTo(PODS, this.#pod, fieldPath);
    this.#recorder.record({ regarding, type, reason, action: 'Running', note });
  }
}

/** Their lists in the spec. */
const LISTS: Readonly<Record<ContainerKind, string>> = {
  init: 'initContainers',
  sidecar: 'initContainers',
  regular: 'containers',
  ephemeral: 'ephemeralContainers',
};
