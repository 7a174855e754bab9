/** PersistentVolumeClaims that all Pods of a JobSet share. */
import type { OwnerReference } from '@lockstep/kube/meta.ts';
import type { PersistentVolumeClaim } from '@lockstep/kube/objects/core.ts';
import type { PodSpec } from '@lockstep/kube/objects/pod.ts';
import type { DefaultedVolumeClaimPolicy } from './defaults.ts';
import { sharedClaimName } from './derived-names.ts';
import { JOBSET_NAME } from './names.ts';

/**
 * The operator makes the claims before the Jobs, and never changes or deletes them. With the policy
 * `Delete` the JobSet owns them and the garbage collector removes them; with `Retain` they stay.
 */
export function volumeClaims(
  jobSet: { readonly name: string; readonly namespace: string },
  policies: readonly DefaultedVolumeClaimPolicy[],
  owner: OwnerReference,
): readonly PersistentVolumeClaim[] {
  return policies.flatMap(({ templates, retentionPolicy }) =>
    templates.map(({ metadata, spec }): PersistentVolumeClaim => {
      const { name = '', labels, annotations } = metadata;
      return {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: {
          name: sharedClaimName(name, jobSet.name),
          namespace: jobSet.namespace,
          labels: { ...labels, [JOBSET_NAME]: jobSet.name },
          ...(annotations === undefined ? {} : { annotations }),
          ...(retentionPolicy.whenDeleted === 'Delete' ? { ownerReferences: [owner] } : {}),
        },
        ...(spec === undefined ? {} : { spec }),
      };
    }),
  );
}

/** Adds a volume for each claim that a container mounts, after the existing volumes. */
export function withClaimVolumes(
  spec: PodSpec,
  policies: readonly DefaultedVolumeClaimPolicy[],
  jobSet: string,
): PodSpec {
  if (policies.length === 0) return spec;
  const mounted = new Set(
    [...(spec.initContainers ?? []), ...spec.containers].flatMap(({ volumeMounts = [] }) =>
      volumeMounts.map(({ name }) => name),
    ),
  );
  const added = policies
    .flatMap(({ templates }) => templates.map(({ metadata }) => metadata.name ?? ''))
    .filter((name) => mounted.has(name))
    .map((name) => ({ name, persistentVolumeClaim: { claimName: sharedClaimName(name, jobSet) } }));
  return added.length === 0 ? spec : { ...spec, volumes: [...(spec.volumes ?? []), ...added] };
}
