/** Changes existing objects: `PUT`, `PATCH` and apply. */
import { invalid, invalidValue } from '@lockstep/kube/field-error.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { badRequest, conflict, notFound } from '@lockstep/kube/status-errors.ts';
import { concernsWebhooks, mutate, validate } from '../admission/admission-chain.ts';
import { type ServerState, strategyContext } from '../calls/server-state.ts';
import { type ApiObject, type StoredObject, withMembers } from '../resources/api-object.ts';
import type { Write } from '../resources/collection.ts';
import { type Entry, unstoredEntry } from '../resources/entry.ts';
import { collectionKey, type ServedResource } from '../resources/served-resource.ts';
import {
  type AdmissionAttributes,
  admissionNamespace,
  inNamespace,
  type Requester,
} from '../webhooks/attributes.ts';
import { create } from './create.ts';
import { withManagersOf, withoutNewTimes } from './managed-fields.ts';
import { hasStatus, isUnchanged, updatedMetadata, withGeneration } from './object-metadata.ts';
import { writeOptimistically } from './optimistic-write.ts';
import { validateChanged } from './validate-object.ts';

export interface UpdateRequest {
  readonly of: ServedResource;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly subresource: string | undefined;
  /**
   * `Replace`: the client sent the whole object. `Patch`: the present object, changed. `Apply`: as
   * `Patch`, but it may create the object.
   */
  readonly mode: 'Apply' | 'Replace' | 'Patch';
  /** Makes the wanted object from the present one as the client sees it. May throw to refuse. */
  readonly transform: (present: StoredObject | undefined) => ApiObject;
  readonly isDryRun: boolean;
  /** Undefined: the server itself changes the object. */
  readonly requester: Requester | undefined;
}

/** The object after the update, and whether the request created it. */
export interface Updated {
  readonly entry: Entry;
  readonly isNew: boolean;
}

/**
 * Changes an object under optimistic concurrency: no other write can come between reading and
 * writing. An update without a change is not written, and watches do not show it. Removing the last
 * finalizer from an object in deletion deletes it.
 *
 * Other writes to the object wait meanwhile, unless webhooks have to be asked: those take time and
 * may write themselves. Then the change is decided again if another write came first.
 */
export async function update(server: ServerState, request: UpdateRequest): Promise<Updated> {
  const { of, namespace, name, subresource } = request;
  const key = collectionKey(of.namespaced ? namespace : undefined, name);
  if (of.collection.get(key) === undefined && mayCreate(request)) {
    const object = request.transform(undefined);
    checkName(object, name);
    const requester = request.requester && asCreator(request.requester);
    try {
      return { entry: await create(server, { ...request, object, requester }), isNew: true };
    } catch (error) {
      // Another client created it meanwhile, so it is changed instead.
      if (!isReason(error, 'AlreadyExists')) throw error;
    }
  }
  const decided = (current: Entry | undefined): Promise<Write<Updated>> => {
    if (current === undefined) throw notFound(of, name);
    return decide(server, request, key, current);
  };
  const asksWebhooks =
    request.requester !== undefined &&
    concernsWebhooks(server, { of, operation: 'UPDATE', subresource });
  return asksWebhooks
    ? writeOptimistically(of.collection, key, decided, () => conflict(of, name))
    : of.collection.write(key, decided);
}

/** Tells webhooks of a creation even if the request is a PUT. */
function asCreator(requester: Requester): Requester {
  return { ...requester, options: { ...requester.options, kind: 'CreateOptions' } };
}

function mayCreate(request: UpdateRequest): boolean {
  const { mode, subresource, of } = request;
  if (subresource !== undefined || mode === 'Patch') return false;
  return mode === 'Apply' || of.strategy.createsOnUpdate;
}

async function decide(
  server: ServerState,
  request: UpdateRequest,
  key: string,
  current: Entry,
): Promise<Write<Updated>> {
  const { of, isDryRun, subresource } = request;
  const answer = (entry: Entry): Updated => ({ entry, isNew: false });
  const old = of.view.show(current.object);
  const given = request.transform(old);
  checkName(given, request.name);
  const wanted = await admitted(server, request, given, old);
  checkPreconditions(request, wanted, old);
  const shown = withManagersOf(merged(server, request, wanted, old), wanted);
  const errors = validateChanged(of, shown, old, request.subresource);
  if (errors.length > 0) throw invalid(of, request.name, errors);
  if (request.requester !== undefined) {
    of.strategy.warnings(shown, old).forEach(request.requester.warn);
  }
  const { countedSubresources = [] } = of.strategy;
  const isDesire = subresource === undefined || countedSubresources.includes(subresource);
  const desired = isDesire ? withGeneration(of, shown, old) : shown;
  await validated(server, request, desired, old);
  if (isUnchanged(withoutNewTimes(shown, old), old))
    return { change: undefined, result: () => answer(current) };
  const object = of.view.store(desired);
  const unstored = unstoredEntry(key, atRevisionOf(old, object));
  if (isDryRun) return { change: undefined, result: () => answer(unstored) };
  if (isDeletionComplete(of, object)) return { change: 'Delete', result: () => answer(unstored) };
  return { change: object, result: (entry) => answer(entry ?? unstored) };
}

async function admitted(
  server: ServerState,
  request: UpdateRequest,
  wanted: ApiObject,
  old: StoredObject,
): Promise<ApiObject> {
  const { requester } = request;
  if (requester === undefined) return wanted;
  const placed = inNamespace(request.of, request.namespace, wanted);
  return mutate(server, attributesOf(request, requester, placed, old), placed);
}

async function validated(
  server: ServerState,
  request: UpdateRequest,
  desired: ApiObject,
  old: StoredObject,
): Promise<void> {
  const { requester } = request;
  if (requester === undefined) return;
  await validate(server, attributesOf(request, requester, atRevisionOf(old, desired), old));
}

function attributesOf(
  { of, namespace, name, subresource, isDryRun }: UpdateRequest,
  requester: Requester,
  object: ApiObject,
  oldObject: StoredObject,
): AdmissionAttributes {
  return {
    operation: 'UPDATE',
    of,
    subresource,
    name,
    namespace: admissionNamespace(of, namespace, name),
    object,
    oldObject,
    isDryRun,
    requester,
  };
}

function atRevisionOf({ metadata }: StoredObject, object: ApiObject): ApiObject {
  const { resourceVersion } = metadata;
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

function checkName(object: ApiObject, name: string): void {
  const own = object.metadata.name;
  if (own === name) return;
  if (own === undefined || own === '') {
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  }
  throw badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
}

function checkPreconditions(request: UpdateRequest, wanted: ApiObject, old: StoredObject): void {
  const { of, name, mode } = request;
  const { resourceVersion, uid } = wanted.metadata;
  if (mode === 'Replace' && uid !== undefined && uid !== old.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`;
    throw conflict(of, name, why);
  }
  if (resourceVersion === undefined || resourceVersion === '' || resourceVersion === '0') {
    if (mode !== 'Replace' || !of.strategy.requiresRevision) return;
    const problem = invalidValue('metadata.resourceVersion', 0, 'must be specified for an update');
    throw invalid({ group: of.group, kind: of.plural }, name, [problem]);
  }
  if (resourceVersion !== old.metadata.resourceVersion) throw conflict(of, name);
}

/** Takes from the wanted object what the request may change, and from the old one the rest. */
function merged(
  server: ServerState,
  request: UpdateRequest,
  wanted: ApiObject,
  old: StoredObject,
): ApiObject {
  const { of, subresource } = request;
  const metadata = updatedMetadata(wanted.metadata, old.metadata);
  const context = strategyContext(server, old.metadata.uid);
  const prepare = (object: ApiObject): ApiObject =>
    of.strategy.prepareForUpdate(object, old, subresource, context);
  if (subresource === undefined) {
    const status = hasStatus(of) ? { status: old['status'] } : {};
    return prepare(withMembers({ ...wanted, metadata }, status));
  }
  if (subresource !== 'status') return prepare({ ...wanted, metadata });
  const kept = of.custom ? updatedMetadata(old.metadata, old.metadata) : metadata;
  return prepare(withMembers({ ...old, metadata: kept }, { status: wanted['status'] }));
}

/** True if nothing holds an object whose deletion was requested any longer. */
export function isDeletionComplete(of: ServedResource, object: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  return (
    deletionTimestamp !== undefined &&
    deletionGracePeriodSeconds === 0 &&
    finalizers.length === 0 &&
    of.strategy.deletion.isHeld?.(object) !== true
  );
}
