import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';

type Pod = Stored<PartialObjectMetadata>;

/** Pods of unknown Jobs, until they end or their Job is seen. */
export class Claimants {
  /** By UID of the Job and of the Pod. */
  readonly #jobs = new Map<string, Map<string, Pod>>();

  add(jobUid: string, pod: Pod): void {
    const { uid } = pod.metadata;
    const pods = this.#jobs.get(jobUid);
    if (pods === undefined) this.#jobs.set(jobUid, new Map([[uid, pod]]));
    else pods.set(uid, pod);
  }

  remove(jobUid: string, podUid: string): void {
    const pods = this.#jobs.get(jobUid);
    pods?.delete(podUid);
    if (pods?.size === 0) this.#jobs.delete(jobUid);
  }

  /** The Job is known now. */
  take(jobUid: string): Iterable<Pod> {
    const pods = this.#jobs.get(jobUid)?.values() ?? [];
    this.#jobs.delete(jobUid);
    return pods;
  }
}
