/** A resource in one version, as the server offers it. */

import type { Resource } from '@lockstep/kube/resource.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import type { RuleTree } from '../../../api-machinery/definitions/rule-evaluation.ts';
import type { ApiObject, StoredObject } from './api-object.ts';
import type { Collection } from './collection.ts';
import type { Strategy } from './strategy.ts';
import type { TableLayout } from './table-layout.ts';

/**
 * Built-in kinds and custom resources alike are data of this shape, and the verbs work from nothing
 * else. Several served resources may share a collection: the versions of a custom resource, and the
 * two groups that show Events.
 */
export interface ServedResource extends Resource {
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly Verb[];
  readonly subresources: readonly Subresource[];
  /** The schema of the whole object, except for metadata, which has the server's own schema. */
  readonly schema: JsonSchema;
  /** The validation rules of a custom resource, if any. */
  readonly rules?: RuleTree;
  readonly strategy: Strategy;
  readonly table: TableLayout;
  /** Field labels by which lists can select, besides `metadata.name` and `metadata.namespace`. */
  readonly fieldLabels: Readonly<Record<string, (shown: ApiObject) => string>>;
  readonly collection: Collection;
  /** How a stored object looks in this version; objects are stored in one version only. */
  readonly view: View;
  /** True for custom resources, whose rules differ in places. */
  readonly custom: boolean;
}

/** What the server needs to know about a kind to read an object of it. */
export type ReceivedKind = Pick<ServedResource, 'custom' | 'group' | 'kind' | 'schema' | 'version'>;

/**
 * What discovery says about a resource. Reviews, which the server answers and never stores, are
 * resources too.
 */
export type DiscoveredResource = Pick<
  ServedResource,
  | 'categories'
  | 'group'
  | 'kind'
  | 'namespaced'
  | 'plural'
  | 'shortNames'
  | 'singular'
  | 'subresources'
  | 'verbs'
  | 'version'
>;

export interface Subresource {
  readonly name: string;
  /** The kind in bodies, if it is not the resource's own. */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
  readonly verbs: readonly Verb[];
}

export type Verb =
  | 'create'
  | 'delete'
  | 'deletecollection'
  | 'get'
  | 'list'
  | 'patch'
  | 'update'
  | 'watch';

/** In the order in which discovery names them. */
export const ALL_VERBS: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

export interface View {
  show(stored: StoredObject): StoredObject;
  /** The inverse of `show`, for objects that come in. */
  store(shown: ApiObject): ApiObject;
}

/** The key of an object in its collection. */
export function collectionKey(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}
