/** Issues tokens of service accounts on request. */
import { invalid, invalidValue } from '@lockstep/kube/field-error.ts';
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import {
  badRequest,
  conflict,
  notFound,
  serviceUnavailable,
} from '@lockstep/kube/status-errors.ts';
import { timeText } from '@lockstep/kube/time.ts';
import { receiveSubresource } from '../admission/received-subresource.ts';
import { presentEntry, type ResourceCall } from '../calls/resource-call.ts';
import type { ServerState } from '../calls/server-state.ts';
import { jsonResponse } from '../http/request.ts';
import { type BoundObject, issueToken, TOKEN_ISSUER } from '../identity/service-account-tokens.ts';
import { type ApiObject, listAt, textAt, valueAt } from '../resources/api-object.ts';
import { collectionKey } from '../resources/served-resource.ts';

const TOKEN_REQUEST_KIND = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenRequest',
};

const DEFAULT_EXPIRATION_SECONDS = 3_600;
const MIN_EXPIRATION_SECONDS = 600;
const MAX_EXPIRATION_SECONDS = 2 ** 32;

/** `POST serviceaccounts/NAME/token`: a token of the account for the requested audiences. */
export async function requestToken(call: ResourceCall): Promise<HttpResponse> {
  const { server, path } = call;
  const { tokenSigner } = server;
  if (tokenSigner === undefined) throw serviceUnavailable('this server signs no tokens');
  const wanted = await receiveSubresource(call, TOKEN_REQUEST_KIND);
  const account = presentEntry(call).object.metadata;
  const seconds = expirationSeconds(wanted);
  const namespace = path.namespace ?? '';
  const given = listAt(wanted, 'spec', 'audiences').map(String);
  const audiences = given.length === 0 ? [TOKEN_ISSUER] : given;
  const nowMs = server.clock.now();
  const expiresAtMs = nowMs + seconds * 1000;
  const grant = {
    namespace,
    serviceAccount: account,
    audiences,
    expiresAtMs,
    boundTo: boundObject(server, namespace, wanted),
    id: server.random.uuid(),
  };
  return jsonResponse(201, {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: {
      name: account.name,
      namespace,
      uid: server.random.uuid(),
      creationTimestamp: timeText(nowMs),
    },
    spec: {
      audiences,
      expirationSeconds: seconds,
      boundObjectRef: valueAt(wanted, 'spec', 'boundObjectRef') ?? null,
    },
    status: {
      token: issueToken(tokenSigner, grant, nowMs),
      expirationTimestamp: timeText(expiresAtMs),
    },
  });
}

function expirationSeconds(wanted: ApiObject): number {
  const seconds = valueAt(wanted, 'spec', 'expirationSeconds') ?? DEFAULT_EXPIRATION_SECONDS;
  if (typeof seconds === 'number' && seconds >= MIN_EXPIRATION_SECONDS) {
    if (seconds <= MAX_EXPIRATION_SECONDS) return seconds;
  }
  const why =
    Number(seconds) < MIN_EXPIRATION_SECONDS
      ? 'may not specify a duration less than 10 minutes'
      : 'may not specify a duration larger than 2^32 seconds';
  throw invalid(TOKEN_REQUEST_KIND, '', [invalidValue('spec.expirationSeconds', seconds, why)]);
}

/** Plural names of the kinds that a token can be bound to. */
const BINDABLE: Readonly<Record<string, string>> = {
  Pod: 'pods',
  Secret: 'secrets',
  Node: 'nodes',
};

function boundObject(
  server: ServerState,
  namespace: string,
  wanted: ApiObject,
): BoundObject | undefined {
  const reference = valueAt(wanted, 'spec', 'boundObjectRef');
  if (reference === undefined || reference === null) return undefined;
  const kind = textAt(reference, 'kind');
  const plural = Object.hasOwn(BINDABLE, kind) ? BINDABLE[kind] : undefined;
  if (plural === undefined || textAt(reference, 'apiVersion') !== 'v1') {
    throw badRequest(
      `cannot bind token to object of type /${textAt(reference, 'apiVersion')}, Kind=${kind}`,
    );
  }
  const name = textAt(reference, 'name');
  const of = server.resources.core(plural);
  const entry = of.collection.get(collectionKey(of.namespaced ? namespace : undefined, name));
  if (entry === undefined) throw notFound(of, name);
  const { uid } = entry.object.metadata;
  const claimed = textAt(reference, 'uid');
  if (claimed !== '' && claimed !== uid) {
    const why = `the UID in the bound object reference (${claimed}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: '', plural: kind }, name, why);
  }
  return { kind, name, uid };
}
