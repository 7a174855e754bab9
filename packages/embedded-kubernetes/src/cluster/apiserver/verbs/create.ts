/** Creates objects: `POST`, and the server's own creations. */
import { invalid, required } from '@lockstep/kube/field-error.ts';
import { randomName } from '@lockstep/kube/runtime/ports/random.ts';
import { applyDefaults } from '@lockstep/kube/schema/defaults.ts';
import { failure, failureWithoutReason } from '@lockstep/kube/status.ts';
import { alreadyExists, badRequest, generateNameConflict } from '@lockstep/kube/status-errors.ts';
import { mutate, validate } from '../admission/admission-chain.ts';
import { admitNew, namespaceLifecycle } from '../admission/built-in-admission.ts';
import { type ServerState, strategyContext } from '../calls/server-state.ts';
import type { ApiObject } from '../resources/api-object.ts';
import { type Entry, unstoredEntry } from '../resources/entry.ts';
import { collectionKey, type ServedResource } from '../resources/served-resource.ts';
import {
  type AdmissionAttributes,
  admissionNamespace,
  inNamespace,
  type Requester,
} from '../webhooks/attributes.ts';
import { newMetadata } from './object-metadata.ts';
import { validateNew } from './validate-object.ts';

export interface CreateRequest {
  readonly of: ServedResource;
  readonly namespace: string | undefined;
  readonly object: ApiObject;
  readonly isDryRun: boolean;
  /** Undefined: the server itself creates the object. */
  readonly requester: Requester | undefined;
}

/** Admits, completes, validates and stores a new object. */
export async function create(server: ServerState, given: CreateRequest): Promise<Entry> {
  const { of, namespace } = given;
  checkCreatable(of);
  const object = await admitted(server, given);
  checkNamespace(of, namespace, object);
  const request = { ...given, object };
  if (object.metadata.resourceVersion !== undefined) {
    throw failureWithoutReason('resourceVersion should not be set on objects to be created');
  }
  const { name, generateName } = object.metadata;
  if (name !== undefined) return createNamed(server, request, name);
  if (generateName === undefined) {
    const problem = required('metadata.name', 'name or generateName is required');
    throw invalid(of, '', [problem]);
  }
  for (let attempt = 0; attempt < GENERATED_NAME_ATTEMPTS; attempt++) {
    const generated = generatedName(server, generateName);
    if (of.collection.get(collectionKey(namespace, generated)) === undefined) {
      return createNamed(server, request, generated);
    }
  }
  throw generateNameConflict(of, generateName);
}

/** The namespace of the path; the object's own must agree with it. */
export function checkNamespace(
  of: ServedResource,
  namespace: string | undefined,
  object: ApiObject,
): void {
  const own = object.metadata.namespace;
  if (own === undefined || own === namespace) return;
  throw badRequest(
    of.namespaced
      ? 'the namespace of the provided object does not match the namespace sent on the request'
      : 'namespace may not be set on cluster-scoped resources',
  );
}

/** The chance that eight random names of five characters all exist is negligible. */
const GENERATED_NAME_ATTEMPTS = 8;
const RANDOM_NAME_LENGTH = 5;
const MAX_NAME_LENGTH = 63;

function generatedName(server: ServerState, prefix: string): string {
  const base = prefix.slice(0, MAX_NAME_LENGTH - RANDOM_NAME_LENGTH);
  return `${base}${randomName(server.random, RANDOM_NAME_LENGTH)}`;
}

function checkCreatable({ strategy }: ServedResource): void {
  if (strategy.forbidsCreate !== undefined) {
    throw failure('MethodNotAllowed', strategy.forbidsCreate);
  }
}

async function admitted(server: ServerState, request: CreateRequest): Promise<ApiObject> {
  const { object, requester } = request;
  if (requester === undefined) return admitNew(server, request);
  const { name = '' } = object.metadata;
  const placed = inNamespace(request.of, request.namespace, object);
  return mutate(server, attributesOf({ ...request, object: placed }, requester, name), placed);
}

function attributesOf(
  { of, namespace, object, isDryRun }: CreateRequest,
  requester: Requester,
  name: string,
): AdmissionAttributes {
  return {
    operation: 'CREATE',
    of,
    subresource: undefined,
    name,
    namespace: admissionNamespace(of, namespace, name),
    object,
    oldObject: undefined,
    isDryRun,
    requester,
  };
}

async function createNamed(
  server: ServerState,
  request: CreateRequest,
  name: string,
): Promise<Entry> {
  const { of, namespace, requester } = request;
  const key = collectionKey(of.namespaced ? namespace : undefined, name);
  const shown = completed(server, request, name);
  if (requester !== undefined) {
    await validate(server, attributesOf({ ...request, object: shown }, requester, name));
  }
  const object = of.view.store(of.custom ? withReadDefaults(of, shown) : shown);
  return of.collection.write(key, (current) => {
    if (current !== undefined) throw alreadyExists(of, name);
    // Webhooks take time: the namespace or resource may be gone by now.
    checkCreatable(server.resources.get(of.group, of.version, of.plural) ?? of);
    namespaceLifecycle(server.resources, request);
    if (request.isDryRun) {
      return { change: undefined, result: () => unstoredEntry(key, object) };
    }
    return { change: object, result: (entry) => entry ?? unstoredEntry(key, object) };
  });
}

/** Every read of a custom resource completes it: a status that was just dropped has its default. */
function withReadDefaults({ schema }: ServedResource, object: ApiObject): ApiObject {
  return applyDefaults(schema, object) as ApiObject;
}

/** The object as it would be stored, in the version of the request. */
function completed(server: ServerState, request: CreateRequest, name: string): ApiObject {
  const { of, namespace } = request;
  const context = strategyContext(server);
  const metadata = newMetadata(of, request.object.metadata, {
    name,
    namespace,
    uid: context.uid,
    nowMs: context.nowMs,
  });
  const shown = of.strategy.prepareForCreate({ ...request.object, metadata }, context);
  const errors = validateNew(of, shown);
  if (errors.length > 0) throw invalid(of, name, errors);
  if (request.requester !== undefined) {
    of.strategy.warnings(shown, undefined).forEach(request.requester.warn);
  }
  return shown;
}
