/**
 * `meta/v1`: objects and their metadata, lists, conditions, selectors, options of a deletion. Times are
 * strings, exactly as the API sends them; code that computes with one converts it.
 */

export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** The namespace of a namespaced object. Only objects without one, as nodes are, give an empty text. */
export function namespaceOf({ namespace = '' }: ObjectMeta): string {
  return namespace;
}

/** The fields that one manager of an object owns. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly time?: string;
  readonly fieldsType: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
  readonly subresource?: string;
}

export type StringMap = Readonly<Record<string, string>>;

export interface OwnerReference extends TypeMeta {
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Any object of the API, as JSON. */
export interface KubeObject extends TypeMeta {
  readonly metadata: ObjectMeta;
}

/** An object as the server returns it: named, identified, versioned. */
export type Stored<T extends KubeObject> = T & { readonly metadata: StoredMeta };

export interface StoredMeta extends ObjectMeta {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
}

/** `meta/v1 PartialObjectMetadata`: what a metadata-only list or watch returns. */
export type PartialObjectMetadata = KubeObject;

export interface ListMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface KubeList<T extends KubeObject = KubeObject> extends TypeMeta {
  readonly metadata: ListMeta;
  readonly items: readonly T[];
}

/** `meta/v1 Condition`. */
export interface Condition {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

export type ConditionStatus = 'True' | 'False' | 'Unknown';

export interface LabelSelector {
  readonly matchLabels?: StringMap;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

export type IntOrString = number | string;

/** `meta/v1 DeleteOptions`, as far as this project sends or honours it. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: readonly string[];
}

/** The owner reference with `controller: true`, or undefined. */
export function controllerOf(metadata: ObjectMeta): OwnerReference | undefined {
  return metadata.ownerReferences?.find((owner) => owner.controller === true);
}
