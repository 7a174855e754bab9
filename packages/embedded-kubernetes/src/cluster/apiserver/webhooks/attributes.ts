/** What admission and its webhooks know of a write. */
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { User } from '../identity/authentication.ts';
import type { ApiObject } from '../resources/api-object.ts';
import type { ReceivedKind, ServedResource } from '../resources/served-resource.ts';

export interface AdmissionAttributes {
  readonly operation: Operation;
  readonly of: ServedResource;
  readonly subresource: string | undefined;
  /** The kind in the body if it is not the resource's own, such as the Binding of a Pod. */
  readonly kind?: ReceivedKind;
  /** Empty while the server has not generated it, and when a whole collection is deleted. */
  readonly name: string;
  readonly namespace: string | undefined;
  /** Undefined in a deletion. */
  readonly object: ApiObject | undefined;
  /** Undefined in a creation. */
  readonly oldObject: ApiObject | undefined;
  readonly isDryRun: boolean;
  readonly requester: Requester;
}

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

/** Who sent the request, and how. The server's own writes ask no webhook. */
export interface Requester {
  readonly user: User;
  /** `CreateOptions` and so on, as an object of `meta.k8s.io/v1`. */
  readonly options: JsonObject;
  readonly warn: (warning: string) => void;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

/** A Namespace counts as being in itself. */
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

/** Webhooks see the namespace of the path, even if the client left it out of the object. */
export function inNamespace(
  of: ServedResource,
  namespace: string | undefined,
  object: ApiObject,
): ApiObject {
  if (!of.namespaced || namespace === undefined) return object;
  return { ...object, metadata: { ...object.metadata, namespace } };
}
