import type { KubeObject } from '../../kube/meta.ts';
import type { ObjectKey } from '../../runtime/client.ts';

/** Who the fields of an installation belong to. */
export const FIELD_MANAGER = 'lockstep-install';

export function keyOf({ metadata: { namespace = '', name = '' } }: KubeObject): ObjectKey {
  return { namespace, name };
}

/** `Deployment lockstep-system/lockstep-operator`. */
export function titleOf({ kind, metadata }: KubeObject): string {
  const { namespace, name = '' } = metadata;
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
