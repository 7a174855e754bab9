/** The PersistentVolumeClaims of a Pod. */
import type { PersistentVolumeClaim } from '@lockstep/kube/objects/core.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { quote } from '@lockstep/kube/quote.ts';

/** Names of the claims that a Pod mounts; all are of its namespace. */
export function claimNamesOf({ spec }: Pod): readonly string[] {
  return (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
    persistentVolumeClaim === undefined ? [] : [persistentVolumeClaim.claimName],
  );
}

/** Why no Pod can start with this claim, in kube-scheduler's words; undefined if one can. */
export function claimProblem(
  name: string,
  claim: PersistentVolumeClaim | undefined,
): string | undefined {
  if (claim === undefined) return `persistentvolumeclaim ${quote(name)} not found`;
  if (claim.metadata.deletionTimestamp !== undefined) {
    return `persistentvolumeclaim ${quote(name)} is being deleted`;
  }
  if (claim.status?.phase === 'Bound') return undefined;
  return 'pod has unbound immediate PersistentVolumeClaims';
}
