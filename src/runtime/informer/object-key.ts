import type { KubeObject } from '../../kube/meta.ts';

/** `namespace/name`, or `name` for a cluster-scoped object. */
export function keyOf(object: KubeObject): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined || namespace === '' ? (name ?? '') : `${namespace}/${name ?? ''}`;
}
