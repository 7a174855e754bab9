/**
 * Reads and writes `admission.k8s.io/v1 AdmissionReview`. Any client that reaches the port may send
 * anything, so everything that handlers rely on is checked here. The API server has checked its
 * objects against their schemas.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import { isDeeperThan, MAX_JSON_DEPTH } from '@lockstep/kube/json/json-depth.ts';
import { hasMoreValuesThan } from '@lockstep/kube/json/json-size.ts';
import {
  isJsonObject,
  type JsonObject,
  jsonTypeOf,
  ownMember,
} from '@lockstep/kube/json/json-value.ts';
import type { KubeObject } from '@lockstep/kube/meta.ts';
import type {
  AdmissionOperation,
  AdmissionRequest,
  AdmissionResponse,
  AdmissionReview,
} from '@lockstep/kube/objects/admission-webhooks.ts';
import { jsonPatchDiff } from '@lockstep/kube/patch/json-patch-diff.ts';
import { quote } from '@lockstep/kube/quote.ts';
import type { ApiStatusError } from '@lockstep/kube/status.ts';
import { badRequest } from '@lockstep/kube/status-errors.ts';
import type { AdmissionAnswer } from './admission-handler.ts';

/** The request in a body. Throws 400 `BadRequest` naming the wrong field. */
export function readAdmissionReview(body: Uint8Array | undefined): AdmissionRequest {
  const review = parsed(body);
  const { apiVersion, kind } = review;
  if (apiVersion !== API_VERSION || kind !== KIND) {
    const given = quote([apiVersion, kind].filter((one) => typeof one === 'string').join(' '));
    throw refusal(`its apiVersion and kind are ${given}, expected ${API_VERSION} ${KIND}`);
  }
  return requestIn(objectAt(review, 'request', 'request'));
}

/** The answer to `request`. A changed object becomes a JSON patch. */
export function reviewOf(request: AdmissionRequest, answer: AdmissionAnswer): AdmissionReview {
  const { uid } = request;
  const warnings = answer.warnings ?? [];
  const told = warnings.length === 0 ? {} : { warnings };
  switch (answer.kind) {
    case 'Allowed':
      return review({ uid, allowed: true, ...patchOf(request, answer.object), ...told });
    case 'Denied': {
      const status = { metadata: {}, status: 'Failure', ...answer.status } as const;
      return review({ uid, allowed: false, status, ...told });
    }
  }
}

/** The refusal of a request for which its handler threw `error`. */
export function denialOf(error: ApiStatusError): AdmissionAnswer {
  const { message = error.message, reason, code, details } = error.status;
  return { kind: 'Denied', status: { message, code, ...defined({ reason, details }) } };
}

const API_VERSION = 'admission.k8s.io/v1';
const KIND = 'AdmissionReview';

/**
 * Two objects of the size that etcd stores have some 100,000. Each value costs memory, even a short
 * one.
 */
const MAX_VALUES = 300_000;

const OPERATIONS: readonly AdmissionOperation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];

function review(response: AdmissionResponse): AdmissionReview {
  return { apiVersion: API_VERSION, kind: KIND, response };
}

function patchOf(
  request: AdmissionRequest,
  object: KubeObject | undefined,
): Pick<AdmissionResponse, 'patch' | 'patchType'> {
  const operations = object === undefined ? [] : jsonPatchDiff(request.object, object);
  if (operations.length === 0) return {};
  return {
    patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
    patchType: 'JSONPatch',
  };
}

function parsed(body: Uint8Array | undefined): JsonObject {
  if (body === undefined || body.byteLength === 0) throw refusal('the request has no body');
  if (hasMoreValuesThan(body, MAX_VALUES)) throw refusal(`it has more than ${MAX_VALUES} values`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    throw refusal(`it is not JSON: ${error instanceof Error ? error.message : error}`, error);
  }
  if (!isJsonObject(value)) throw refusal('it is not an object');
  if (isDeeperThan(value, MAX_JSON_DEPTH)) {
    throw refusal(`it is deeper than ${MAX_JSON_DEPTH} levels`);
  }
  return value;
}

function requestIn(from: JsonObject): AdmissionRequest {
  const uid = textAt(from, 'uid', 'request.uid');
  if (uid === '') throw refusal('request.uid: Required value');
  const asked = ownMember(from, 'operation');
  const operation = OPERATIONS.find((known) => known === asked);
  if (operation === undefined) {
    const given = typeof asked === 'string' ? quote(asked) : typeName(asked);
    throw refusal(`request.operation: ${given}, expected one of ${OPERATIONS.join(', ')}`);
  }
  const object = kubeObjectAt(from, 'object');
  const oldObject = kubeObjectAt(from, 'oldObject');
  const options = optionalObjectAt(from, 'options');
  return {
    uid,
    operation,
    kind: {
      ...groupVersionAt(from, 'kind'),
      kind: textAt(objectAt(from, 'kind', 'request.kind'), 'kind', 'request.kind.kind'),
    },
    resource: {
      ...groupVersionAt(from, 'resource'),
      resource: textAt(
        objectAt(from, 'resource', 'request.resource'),
        'resource',
        'request.resource.resource',
      ),
    },
    subResource: textAt(from, 'subResource', 'request.subResource'),
    name: textAt(from, 'name', 'request.name'),
    namespace: textAt(from, 'namespace', 'request.namespace'),
    userInfo: optionalObjectAt(from, 'userInfo') ?? {},
    dryRun: from['dryRun'] === true,
    ...defined({ object, oldObject, options }),
  };
}

function groupVersionAt(
  from: JsonObject,
  key: 'kind' | 'resource',
): { readonly group: string; readonly version: string } {
  const field = `request.${key}`;
  const of = objectAt(from, key, field);
  return {
    group: textAt(of, 'group', `${field}.group`),
    version: textAt(of, 'version', `${field}.version`),
  };
}

/** API servers write `null` for the object that an operation does not have. */
function kubeObjectAt(from: JsonObject, key: 'object' | 'oldObject'): KubeObject | undefined {
  const object = optionalObjectAt(from, key);
  if (object === undefined) return undefined;
  const field = `request.${key}`;
  const apiVersion = textAt(object, 'apiVersion', `${field}.apiVersion`);
  const kind = textAt(object, 'kind', `${field}.kind`);
  const metadata = objectAt(object, 'metadata', `${field}.metadata`);
  return { ...object, apiVersion, kind, metadata };
}

function objectAt(from: JsonObject, key: string, field: string): JsonObject {
  const value = ownMember(from, key);
  if (!isJsonObject(value)) throw refusal(`${field}: expected an object, not ${typeName(value)}`);
  return value;
}

function optionalObjectAt(from: JsonObject, key: string): JsonObject | undefined {
  const value = ownMember(from, key);
  return value === undefined || value === null ? undefined : objectAt(from, key, `request.${key}`);
}

function textAt(from: JsonObject, key: string, field: string): string {
  const value = ownMember(from, key) ?? '';
  if (typeof value !== 'string') {
    throw refusal(`${field}: expected a string, not ${typeName(value)}`);
  }
  return value;
}

function typeName(value: unknown): string {
  return value === undefined ? 'nothing' : jsonTypeOf(value);
}

function refusal(why: string, cause?: unknown): ApiStatusError {
  return badRequest(`the body cannot be read as an AdmissionReview: ${why}`, cause);
}
