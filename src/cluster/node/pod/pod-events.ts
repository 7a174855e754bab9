/** The Events of a Pod, with a kubelet's reasons and texts. */
import { PODS, type Pod } from '../../../kube/objects/pod.ts';
import { type EventRecorder, referenceTo } from '../../../runtime/controller/event-recorder.ts';
import type { ContainerKind } from '../pod-containers.ts';

export class PodEvents {
  readonly #recorder: EventRecorder;
  readonly #pod: Pod;
  readonly #fullName: string;

  constructor(recorder: EventRecorder, pod: Pod) {
    this.#recorder = recorder;
    this.#pod = pod;
    const { name = '', namespace = '', uid = '' } = pod.metadata;
    this.#fullName = `${name}_${namespace}(${uid})`;
  }

  /** What is about the Pod as a whole. */
  pod(type: 'Normal' | 'Warning', reason: string, note: string): void {
    this.#record(type, reason, note, undefined);
  }

  container(
    { name, kind }: { readonly name: string; readonly kind: ContainerKind },
    type: 'Normal' | 'Warning',
    reason: string,
    note: string,
  ): void {
    const list = LISTS[kind];
    this.#record(type, reason, note, `spec.${list}{${name}}`);
  }

  /** Text of the Event and, with the delay in front, of the waiting state. */
  backOffNote(container: string): string {
    return `restarting failed container ${container} in pod ${this.#fullName}`;
  }

  backOffMessage(container: string, delayText: string): string {
    return `back-off ${delayText} restarting failed container=${container} pod=${this.#fullName}`;
  }

  #record(
    type: 'Normal' | 'Warning',
    reason: string,
    note: string,
    fieldPath: string | undefined,
  ): void {
    // Without a version, so that repeats are one series however often the Pod changes.
    const { resourceVersion: _, ...regarding } = referenceTo(PODS, this.#pod, fieldPath);
    this.#recorder.record({ regarding, type, reason, action: 'Running', note });
  }
}

/** Where the spec has them. */
const LISTS: Readonly<Record<ContainerKind, string>> = {
  init: 'initContainers',
  sidecar: 'initContainers',
  regular: 'containers',
  ephemeral: 'ephemeralContainers',
};
