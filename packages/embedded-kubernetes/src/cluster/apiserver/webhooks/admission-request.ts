/** The request that a webhook receives, with the objects in the version that it asked for. */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { AdmissionRequest } from '@lockstep/kube/objects/admission-webhooks.ts';
import type { ApiObject, StoredObject } from '../resources/api-object.ts';
import type { ServedResource } from '../resources/served-resource.ts';
import type { AdmissionAttributes } from './attributes.ts';

/**
 * `AdmissionRequest` as it is sent. As in Go, absent objects are null, and all other empty members
 * are left out.
 */
export interface SentRequest extends Omit<AdmissionRequest, 'object' | 'oldObject'> {
  readonly object: ApiObject | null;
  readonly oldObject: ApiObject | null;
}

/** The request as a webhook sees it when it is asked about the resource `as`. */
export function admissionRequest(
  attributes: AdmissionAttributes,
  as: ServedResource,
  uid: string,
): SentRequest {
  const { of, subresource, name, namespace = '', operation, requester } = attributes;
  const { object, oldObject } = attributes;
  const { username, uid: userId, groups, extra } = requester.user;
  return {
    uid,
    kind: kindOf(attributes, as),
    resource: { group: as.group, version: as.version, resource: as.plural },
    ...defined({ subResource: subresource }),
    requestKind: kindOf(attributes, of),
    requestResource: { group: of.group, version: of.version, resource: of.plural },
    ...defined({ requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: {
      username,
      ...defined({ uid: userId }),
      groups,
      ...defined({ extra }),
    },
    object: object === undefined ? null : forWebhook(attributes, as, object),
    oldObject: oldObject === undefined ? null : forWebhook(attributes, as, oldObject),
    dryRun: attributes.isDryRun,
    options: requester.options,
  };
}

/** The object in the version in which a webhook sees it. */
export function forWebhook(
  { of, kind }: AdmissionAttributes,
  as: ServedResource,
  object: ApiObject,
): ApiObject {
  return kind !== undefined || as === of ? object : converted(of, as, object);
}

/** The object of the request, from a webhook's patched object in the version of `as`. */
export function fromWebhook(
  { of, kind }: AdmissionAttributes,
  as: ServedResource,
  object: ApiObject,
): ApiObject {
  return kind !== undefined || as === of ? object : converted(as, of, object);
}

function converted(from: ServedResource, to: ServedResource, object: ApiObject): ApiObject {
  // A view does not read members that only stored objects have.
  return to.view.show(from.view.store(object) as StoredObject);
}

function kindOf(
  { kind }: AdmissionAttributes,
  of: ServedResource,
): { readonly group: string; readonly version: string; readonly kind: string } {
  const { group, version, kind: name } = kind ?? of;
  return { group, version, kind: name };
}
