/** The text of the Event about what differs for a Pod whose containers have no namespaces. */

import type { PodSpec } from '@lockstep/kube/objects/pod.ts';
import { containersOf } from '../pod-containers.ts';

/** The volume that an API server adds to every Pod, used or not. */
const TOKEN_VOLUME_PREFIX = 'kube-api-access-';
/** The longest text that an Event can have is 1024 bytes. */
const MAX_PATHS = 10;

/** Undefined if the Pod uses nothing that differs. */
export function missingNamespacesNote(spec: PodSpec, reason: string): string | undefined {
  const differences = [
    ...volumesNote(spec),
    ...((spec.subdomain ?? '') === '' && (spec.hostAliases ?? []).length === 0
      ? []
      : ['names are in the file $LOCKSTEP_HOSTS, not in /etc/hosts']),
  ];
  if (differences.length === 0) return undefined;
  return `containers have no namespaces here (${reason}), so ${differences.join('; ')}`;
}

function volumesNote(spec: PodSpec): readonly string[] {
  const paths = new Set(
    containersOf(spec).flatMap(({ container }) =>
      (container.volumeMounts ?? [])
        .filter(({ name }) => !name.startsWith(TOKEN_VOLUME_PREFIX))
        .map(({ mountPath }) => mountPath),
    ),
  );
  if (paths.size === 0) return [];
  const listed = [...paths].slice(0, MAX_PATHS).join(', ');
  const more = paths.size > MAX_PATHS ? ` and ${paths.size - MAX_PATHS} more` : '';
  return [`volumes are below $LOCKSTEP_ROOT, not at their paths: ${listed}${more}`];
}
