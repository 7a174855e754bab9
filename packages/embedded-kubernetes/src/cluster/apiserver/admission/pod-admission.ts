/** Admission of Pods: service account, priority and tolerations. */
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { UNREACHABLE_TAINT } from '@lockstep/kube/objects/node.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { type Random, randomName } from '@lockstep/kube/runtime/ports/random.ts';
import { forbidden } from '@lockstep/kube/status-errors.ts';
import type { ServerState } from '../calls/server-state.ts';
import {
  type ApiObject,
  listAt,
  objectAt,
  textAt,
  valueAt,
  withMembers,
} from '../resources/api-object.ts';
import { collectionKey, type ServedResource } from '../resources/served-resource.ts';

/** A new object on its way into a collection. */
export interface CreateReview {
  readonly of: ServedResource;
  readonly namespace: string | undefined;
  readonly object: ApiObject;
}

/**
 * Completes a new Pod as the admission plug-ins ServiceAccount, Priority and
 * DefaultTolerationSeconds do. Its account must exist, and the account's token is mounted at a
 * well-known path. A server that signs no tokens mounts none, and asks for no account.
 */
export function admitPod(server: ServerState, review: CreateReview): ApiObject {
  const tolerant = withTolerations(withPriority(review.object));
  const spec = objectAt(tolerant, 'spec');
  const name = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount') || 'default';
  const named = { ...spec, serviceAccountName: name, serviceAccount: name };
  if (server.tokenSigner === undefined) return { ...tolerant, spec: named };
  const account = accountOf(server, review, name);
  const mounts =
    valueAt(spec, 'automountServiceAccountToken') ??
    valueAt(account, 'automountServiceAccountToken') ??
    true;
  const complete = mounts === false ? named : withToken(named, server.random);
  return { ...tolerant, spec: withPullSecrets(complete, account) };
}

/** Where Kubernetes' clients look for their credentials. */
const TOKEN_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';
const VOLUME_PREFIX = 'kube-api-access-';
const RANDOM_LENGTH = 5;
/**
 * An hour and seven seconds, as in upstream: the odd value tells these tokens from requested ones.
 */
const TOKEN_SECONDS = 3_607;
/** Octal 0644. */
const FILE_MODE = 0o644;

function accountOf(server: ServerState, review: CreateReview, name: string): ApiObject {
  const { namespace = '', object } = review;
  const accounts = server.resources.core('serviceaccounts').collection;
  const entry = accounts.get(collectionKey(namespace, name));
  if (entry !== undefined) return entry.object;
  throw forbidden(
    PODS,
    object.metadata.name ?? '',
    `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`,
  );
}

function withToken(spec: JsonObject, random: Random): JsonObject {
  const volumes = listAt(spec, 'volumes');
  const present = volumes.map((each) => textAt(each, 'name')).find(isTokenVolume);
  const volume = present ?? `${VOLUME_PREFIX}${randomName(random, RANDOM_LENGTH)}`;
  const isMissing = (container: unknown): boolean =>
    !listAt(container, 'volumeMounts').some(
      (mount) => textAt(mount, 'mountPath') === TOKEN_DIRECTORY,
    );
  const mount = { name: volume, readOnly: true, mountPath: TOKEN_DIRECTORY };
  const mounted = (container: unknown): unknown =>
    isJsonObject(container) && isMissing(container)
      ? { ...container, volumeMounts: [...listAt(container, 'volumeMounts'), mount] }
      : container;
  const containers = listAt(spec, 'containers');
  const initContainers = listAt(spec, 'initContainers');
  if (![...containers, ...initContainers].some(isMissing)) return spec;
  return withMembers(spec, {
    volumes:
      present === undefined ? [...volumes, { name: volume, projected: projection() }] : volumes,
    containers: containers.map(mounted),
    initContainers: initContainers.length === 0 ? undefined : initContainers.map(mounted),
  });
}

function isTokenVolume(name: string): boolean {
  return name.startsWith(VOLUME_PREFIX);
}

function projection(): JsonObject {
  const fieldRef = { apiVersion: 'v1', fieldPath: 'metadata.namespace' };
  return {
    sources: [
      { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef }] } },
    ],
    defaultMode: FILE_MODE,
  };
}

function withPullSecrets(spec: JsonObject, account: ApiObject): JsonObject {
  const secrets = listAt(account, 'imagePullSecrets');
  const isSet = listAt(spec, 'imagePullSecrets').length > 0;
  return isSet || secrets.length === 0 ? spec : { ...spec, imagePullSecrets: secrets };
}

/** Only the PriorityClasses that every cluster has exist here. */
const PRIORITIES: Readonly<Record<string, number>> = {
  '': 0,
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

function withPriority(pod: ApiObject): ApiObject {
  const spec = objectAt(pod, 'spec');
  const name = textAt(spec, 'priorityClassName');
  const priority = Object.hasOwn(PRIORITIES, name) ? PRIORITIES[name] : undefined;
  if (priority === undefined) {
    const why = `no PriorityClass with name ${name} was found`;
    throw forbidden(PODS, pod.metadata.name ?? '', why);
  }
  const computed = { priority, preemptionPolicy: 'PreemptLowerPriority' };
  for (const [field, told] of COMPUTED) {
    const given = valueAt(spec, field);
    const isGiven = typeof given === 'number' || typeof given === 'string';
    if (!isGiven || given === computed[field]) continue;
    const why = `the ${told} (${given}) must not be provided in pod spec; priority admission controller computed ${computed[field]} from the given PriorityClass name`;
    throw forbidden(PODS, pod.metadata.name ?? '', why);
  }
  return { ...pod, spec: { ...spec, ...computed } };
}

/** Fields that follow from the priority class; a Pod may only set them to those values. */
const COMPUTED = [
  ['priority', 'integer value of priority'],
  ['preemptionPolicy', 'string value of PreemptionPolicy'],
] as const;

/** How long a Pod stays on a node in trouble by default. */
const TROUBLE_TOLERATION_SECONDS = 300;
const TROUBLES: readonly string[] = ['node.kubernetes.io/not-ready', UNREACHABLE_TAINT];

/**
 * Adds default tolerations to each new or changed Pod, as the plug-in DefaultTolerationSeconds
 * does.
 */
export function withTolerations(pod: ApiObject): ApiObject {
  const spec = objectAt(pod, 'spec');
  const own = listAt(spec, 'tolerations');
  const missing = TROUBLES.filter((key) => !own.some((toleration) => covers(toleration, key)));
  if (missing.length === 0) return pod;
  const added = missing.map((key) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: TROUBLE_TOLERATION_SECONDS,
  }));
  return { ...pod, spec: { ...spec, tolerations: [...own, ...added] } };
}

function covers(toleration: unknown, key: string): boolean {
  const named = textAt(toleration, 'key');
  const effect = textAt(toleration, 'effect');
  return (named === key || named === '') && (effect === 'NoExecute' || effect === '');
}
