import type { JsonObject } from '../../../kube/json/json-value.ts';
import type { User } from '../identity/authentication.ts';
import type { ApiObject } from '../resources/api-object.ts';
import type { ReceivedKind, ServedResource } from '../resources/served-resource.ts';

/** Somebody wants to change something: what admission and its webhooks are told of it. */
export interface AdmissionAttributes {
  readonly operation: Operation;
  readonly of: ServedResource;
  readonly subresource: string | undefined;
  /** What is exchanged, where it is not the resource's own kind, such as the Binding of a Pod. */
  readonly kind?: ReceivedKind;
  /** Empty as long as the server has not generated it, and in the deletion of a whole collection. */
  readonly name: string;
  readonly namespace: string | undefined;
  /** None in a deletion. */
  readonly object: ApiObject | undefined;
  /** None in a creation. */
  readonly oldObject: ApiObject | undefined;
  readonly isDryRun: boolean;
  readonly requester: Requester;
}

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

/** Who sent the request, and how. What the server does of its own accord asks no webhook. */
export interface Requester {
  readonly user: User;
  /** `CreateOptions` and so on, as an object of `meta.k8s.io/v1`. */
  readonly options: JsonObject;
  readonly warn: (warning: string) => void;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

/** A Namespace counts as in itself. */
export function admissionNamespace(
  of: ServedResource,
  namespace: string | undefined,
  name: string,
): string {
  if (isNamespace(of)) return name;
  return of.namespaced ? (namespace ?? '') : '';
}

export function isNamespace(of: ServedResource): boolean {
  return of.group === '' && of.plural === 'namespaces';
}

/** Webhooks see the namespace that the path names, also where the client left it out. */
export function inNamespace(
  of: ServedResource,
  namespace: string | undefined,
  object: ApiObject,
): ApiObject {
  if (!of.namespaced || namespace === undefined) return object;
  return { ...object, metadata: { ...object.metadata, namespace } };
}
