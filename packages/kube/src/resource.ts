import type { KubeObject } from './meta.ts';

/**
 * A resource of the API: the path and the kind of its objects. The type parameter is the type of
 * the objects, for the compiler only.
 */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural and lower case: `pods`. */
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never set: it ties `T` to the resource. */
  readonly object?: T;
}

export function resource<T extends KubeObject>(
  apiVersion: string,
  plural: string,
  kind: string,
  scope: 'Namespaced' | 'Cluster' = 'Namespaced',
): Resource<T> {
  const slash = apiVersion.indexOf('/');
  return {
    group: slash < 0 ? '' : apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1),
    plural,
    kind,
    namespaced: scope === 'Namespaced',
  };
}

/** `group/version`, or `version` alone for the core group. */
export function apiVersionOf(of: Pick<Resource, 'group' | 'version'>): string {
  return of.group === '' ? of.version : `${of.group}/${of.version}`;
}

/** What an object says of its type, as `meta/v1 TypeMeta`. */
export function typeMetaOf(of: Pick<Resource, 'group' | 'version' | 'kind'>): {
  readonly apiVersion: string;
  readonly kind: string;
} {
  return { apiVersion: apiVersionOf(of), kind: of.kind };
}

/** `plural.group`, or `plural` alone for the core group: the name in messages and CRD names. */
export function groupResourceOf(of: Pick<Resource, 'group' | 'plural'>): string {
  return of.group === '' ? of.plural : `${of.plural}.${of.group}`;
}

/** The URL path of a collection (no `name`), an object, or a subresource. */
export function resourcePath(
  of: Resource,
  at: {
    readonly namespace?: string | undefined;
    readonly name?: string | undefined;
    readonly subresource?: string | undefined;
  },
): string {
  const root = of.group === '' ? `/api/${of.version}` : `/apis/${of.group}/${of.version}`;
  const space =
    of.namespaced && at.namespace !== undefined && at.namespace !== ''
      ? `/namespaces/${encodeURIComponent(at.namespace)}`
      : '';
  const name = at.name === undefined ? '' : `/${encodeURIComponent(at.name)}`;
  const subresource = at.subresource === undefined ? '' : `/${at.subresource}`;
  return `${root}${space}/${of.plural}${name}${subresource}`;
}
