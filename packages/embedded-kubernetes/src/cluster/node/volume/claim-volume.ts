/** The directories of claims' volumes. */
import type { ObjectMeta } from '@lockstep/kube/meta.ts';
import type { PersistentVolumeClaim } from '@lockstep/kube/objects/core.ts';

/**
 * One directory for all nodes of the machine, so that every Pod that mounts the claim finds the
 * same files. A later claim of the same name has another UID, and begins with an empty one.
 */
export function claimDirectory(volumesDirectory: string, claim: PersistentVolumeClaim): string {
  const { namespace = '', name = '', uid = '' }: ObjectMeta = claim.metadata;
  return `${volumesDirectory}/${namespace}_${name}_${uid}`;
}
