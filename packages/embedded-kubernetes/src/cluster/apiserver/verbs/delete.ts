/** Deletes objects, at once or after finalizers and grace periods. */

import { invalid, notSupported } from '@lockstep/kube/field-error.ts';
import { defined } from '@lockstep/kube/json/defined.ts';
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { DeleteOptions, ObjectMeta } from '@lockstep/kube/meta.ts';
import { quote } from '@lockstep/kube/quote.ts';
import { badRequest, conflict, forbidden, notFound } from '@lockstep/kube/status-errors.ts';
import { timeText } from '@lockstep/kube/time.ts';
import { admitDeletion, concernsWebhooks } from '../admission/admission-chain.ts';
import type { ServerState } from '../calls/server-state.ts';
import { isDryRun } from '../http/write-options.ts';
import { type ApiObject, type StoredObject, withMembers } from '../resources/api-object.ts';
import type { Write } from '../resources/collection.ts';
import { type Entry, unstoredEntry } from '../resources/entry.ts';
import { collectionKey, type ServedResource } from '../resources/served-resource.ts';
import { admissionNamespace, type Requester } from '../webhooks/attributes.ts';
import { writeOptimistically } from './optimistic-write.ts';
import { isDeletionComplete } from './update.ts';

/** The result of a deletion: the object is gone, or marked and waits. */
export interface Deletion {
  readonly entry: Entry;
  readonly isGone: boolean;
}

/**
 * Deletes an object, or marks it as deleted if finalizers or a grace period hold it. Another
 * request may shorten the grace period, never lengthen it.
 */
export async function remove(
  server: ServerState,
  of: ServedResource,
  at: { readonly namespace: string | undefined; readonly name: string },
  options: DeleteOptions,
  asked?: DeletionRequest,
): Promise<Deletion> {
  const key = collectionKey(of.namespaced ? at.namespace : undefined, at.name);
  const decided = async (current: Entry | undefined): Promise<Write<Deletion>> => {
    if (current === undefined) throw notFound(of, at.name);
    return decide(server, of, options, current, asked);
  };
  const asksWebhooks =
    asked !== undefined &&
    concernsWebhooks(server, { of, operation: 'DELETE', subresource: undefined });
  return asksWebhooks
    ? writeOptimistically(of.collection, key, decided, () => conflict(of, at.name))
    : of.collection.write(key, decided);
}

/** The requester of a deletion, and the name in the request: none if it was for a collection. */
export interface DeletionRequest {
  readonly requester: Requester;
  readonly name: string;
}

async function decide(
  server: ServerState,
  of: ServedResource,
  options: DeleteOptions,
  current: Entry,
  asked: DeletionRequest | undefined,
): Promise<Write<Deletion>> {
  const old = current.object;
  const { name, namespace } = old.metadata;
  const isDryRun = (options.dryRun ?? []).length > 0;
  checkPreconditions(of, old, options);
  const refusal = of.strategy.deletion.forbidden?.(old);
  if (refusal !== undefined) throw forbidden(of, name, refusal);
  const mark = (): ApiObject | undefined => markedForDeletion(of, old, options, server.clock.now());
  // Another request that would not end the object sooner changes nothing.
  const isPending = of.strategy.deletion.graceSeconds !== undefined && mark() === undefined;
  if (asked !== undefined && !isPending) {
    await admitDeletion(server, {
      operation: 'DELETE',
      of,
      subresource: undefined,
      name: asked.name,
      namespace: admissionNamespace(of, namespace, name),
      object: undefined,
      oldObject: of.view.show(old),
      isDryRun,
      requester: asked.requester,
    });
  }
  const marked = mark();
  const object = marked ?? old;
  const isGone = isDeletionComplete(of, object);
  const unstored = unstoredEntry(current.key, object);
  const result = (entry: Entry | undefined): Deletion => ({
    entry: isGone || entry === undefined ? unstored : entry,
    isGone,
  });
  return { change: isDryRun ? undefined : isGone ? 'Delete' : marked, result };
}

/** The options of a deletion, from the body or else the query. Throws for invalid values. */
export function deleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  const given = isJsonObject(body) ? body : {};
  const { kind = '' } = given;
  if (kind !== '' && kind !== 'DeleteOptions') {
    const shown = typeof kind === 'string' ? quote(kind) : JSON.stringify(kind);
    throw badRequest(`no kind ${shown} is registered for deletions, only "DeleteOptions"`);
  }
  const grace = integerMember(given, query, 'gracePeriodSeconds');
  const policy = propagationPolicy(given['propagationPolicy'] ?? query.get('propagationPolicy'));
  const orphan = given['orphanDependents'] ?? query.get('orphanDependents') ?? undefined;
  const preconditions = isJsonObject(given['preconditions']) ? given['preconditions'] : {};
  const { uid, resourceVersion } = preconditions;
  const fromBody = Array.isArray(given['dryRun']) ? given['dryRun'].map(String) : [];
  const dryRun = new URLSearchParams(query);
  for (const value of fromBody) dryRun.append('dryRun', value);
  return {
    ...defined({ gracePeriodSeconds: grace }),
    ...(policy === undefined ? orphanPolicy(orphan) : { propagationPolicy: policy }),
    preconditions: {
      ...(typeof uid === 'string' ? { uid } : {}),
      ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
    },
    dryRun: isDryRun(dryRun, 'DeleteOptions') ? ['All'] : [],
  };
}

const POLICIES = ['Foreground', 'Background', 'Orphan'] as const;

function propagationPolicy(value: unknown): DeleteOptions['propagationPolicy'] {
  if (value === undefined || value === null || value === '') return undefined;
  const policy = POLICIES.find((known) => known === value);
  if (policy !== undefined) return policy;
  throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', [
    notSupported('propagationPolicy', value, [...POLICIES, 'nil']),
  ]);
}

/** The deprecated form of the policy. */
function orphanPolicy(orphan: unknown): Pick<DeleteOptions, 'propagationPolicy'> {
  if (orphan === undefined || orphan === null) return {};
  const isOrphan = orphan === true || orphan === 'true';
  return { propagationPolicy: isOrphan ? 'Orphan' : 'Background' };
}

function integerMember(body: JsonObject, query: URLSearchParams, name: string): number | undefined {
  const value = body[name] ?? query.get(name);
  if (value === null || value === undefined || value === '') return undefined;
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) {
    throw badRequest(`${name}: Invalid value: ${JSON.stringify(value)}: must be an integer`);
  }
  // According to the API, a negative period means one second.
  return number < 0 ? 1 : number;
}

function checkPreconditions(of: ServedResource, old: StoredObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const record = old.metadata;
  const byKind = { group: of.group, plural: of.kind };
  if (uid !== undefined && uid !== record.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${record.uid}). The object might have been deleted and then recreated`;
    throw conflict(byKind, record.name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== record.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${record.resourceVersion}). The object might have been modified`;
    throw conflict(byKind, record.name, why);
  }
}

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** The object with the marks of deletion; undefined if this request changes nothing. */
function markedForDeletion(
  of: ServedResource,
  old: StoredObject,
  options: DeleteOptions,
  nowMs: number,
): ApiObject | undefined {
  const before = old.metadata.finalizers ?? [];
  const finalizers = withPolicy(before, options.propagationPolicy);
  const timing = deletionTiming(of, old, options, nowMs);
  if (timing === undefined && finalizers === before) return undefined;
  const { deletionTimestamp } = old.metadata;
  const { begin } = of.strategy.deletion;
  const isFirst = deletionTimestamp === undefined;
  const bump = isFirst && begin === undefined && old.metadata.generation !== undefined;
  const metadata: ObjectMeta = withMembers(old.metadata, {
    ...timing,
    finalizers: finalizers.length === 0 ? undefined : finalizers,
    ...(bump ? { generation: (old.metadata.generation ?? 0) + 1 } : {}),
  });
  const object = { ...old, metadata };
  return isFirst && begin !== undefined ? begin({ ...object, metadata }, nowMs) : object;
}

/** When an object has to be gone; undefined if that is decided and cannot come sooner. */
function deletionTiming(
  of: ServedResource,
  old: StoredObject,
  options: DeleteOptions,
  nowMs: number,
): Pick<ObjectMeta, 'deletionTimestamp' | 'deletionGracePeriodSeconds'> | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = old.metadata;
  const requested = options.gracePeriodSeconds;
  if (deletionTimestamp === undefined) {
    const grace = of.strategy.deletion.graceSeconds?.(old, requested) ?? 0;
    const at = timeText(nowMs + grace * 1000);
    // A namespace or a definition is emptied first, so it waits for that and not for time.
    return of.strategy.deletion.begin === undefined
      ? { deletionTimestamp: at, deletionGracePeriodSeconds: grace }
      : { deletionTimestamp: at };
  }
  const before = deletionGracePeriodSeconds ?? 0;
  if (of.strategy.deletion.graceSeconds === undefined || requested === undefined) return undefined;
  if (requested >= before) return undefined;
  const begun = Date.parse(deletionTimestamp) - before * 1000;
  return {
    deletionTimestamp: timeText(begun + requested * 1000),
    deletionGracePeriodSeconds: requested,
  };
}

/** The garbage collector's finalizers follow the newest policy that was given. */
function withPolicy(
  finalizers: readonly string[],
  policy: DeleteOptions['propagationPolicy'],
): readonly string[] {
  if (policy === undefined) return finalizers;
  const others = finalizers.filter((name) => name !== ORPHAN && name !== FOREGROUND);
  const wanted =
    policy === 'Background' ? others : [...others, policy === 'Orphan' ? ORPHAN : FOREGROUND];
  const isSame =
    wanted.length === finalizers.length && wanted.every((name) => finalizers.includes(name));
  return isSame ? finalizers : wanted;
}
