import type { PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';

export interface Claimant {
  readonly pod: Stored<PartialObjectMetadata>;
  readonly state: 'Lives' | 'Succeeded';
}

/** Pods of unknown Jobs, until they end or their Job is seen. */
export class Claimants {
  /** By UID of the Job and of the Pod. */
  readonly #jobs = new Map<string, Map<string, Claimant>>();

  add(jobUid: string, claimant: Claimant): void {
    const { uid } = claimant.pod.metadata;
    const pods = this.#jobs.get(jobUid);
    if (pods === undefined) this.#jobs.set(jobUid, new Map([[uid, claimant]]));
    else pods.set(uid, claimant);
  }

  remove(jobUid: string, podUid: string): void {
    const pods = this.#jobs.get(jobUid);
    pods?.delete(podUid);
    if (pods?.size === 0) this.#jobs.delete(jobUid);
  }

  /** The Job is known now. */
  take(jobUid: string): Iterable<Claimant> {
    const pods = this.#jobs.get(jobUid)?.values() ?? [];
    this.#jobs.delete(jobUid);
    return pods;
  }
}
