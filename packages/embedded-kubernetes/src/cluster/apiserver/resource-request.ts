/** Carries out requests for resources: method and path choose the verb. */

import { invalid, invalidValue } from '@lockstep/kube/field-error.ts';
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { type ApiStatusError, isReason } from '@lockstep/kube/status.ts';
import { methodNotAllowed, notFound, unknownResource } from '@lockstep/kube/status-errors.ts';
import { kindSchema } from '../../api-machinery/kind-schemas/kind-definitions.ts';
import {
  entryResponse,
  presentEntry,
  type ResourceCall,
  receiveBody,
  representationAs,
  requesterOf,
} from './calls/resource-call.ts';
import { contentTypeOf, encodeList } from './http/encode.ts';
import { fieldValidation, receive } from './http/receive.ts';
import { bytesResponse, jsonResponse } from './http/request.ts';
import { readBody } from './http/request-body.ts';
import {
  checkManager,
  deleteOptionsObject,
  isDryRun,
  isForced,
  managerName,
  optionsObject,
} from './http/write-options.ts';
import type { Verb } from './resources/served-resource.ts';
import { subresourceHandler } from './subresource.ts';
import { applyTo, readConfiguration } from './verbs/apply-patch.ts';
import { checkNamespace, create } from './verbs/create.ts';
import { deleteOptions, remove } from './verbs/delete.ts';
import { listPage } from './verbs/list.ts';
import { type ManagedWrite, withManagers } from './verbs/managed-fields.ts';
import { isApply, readPatch } from './verbs/patch.ts';
import { selectionOf } from './verbs/selection.ts';
import { update } from './verbs/update.ts';
import { isWatch, watchResponse } from './verbs/watch-request.ts';

/** Throws `ApiStatusError` to refuse. */
export async function handleResource(call: ResourceCall): Promise<HttpResponse> {
  const { of, path, request } = call;
  const { method } = request;
  if (!of.namespaced && path.namespace !== undefined) throw unknownResource();
  if (path.name === undefined) return handleCollection(call);
  if (of.namespaced && path.namespace === undefined) throw unknownResource();
  const handler = subresourceHandler(call);
  const verb = VERBS[method];
  if (verb === undefined || !allowedVerbs(call).includes(verb)) throw methodNotAllowed();
  if (handler !== undefined) return handler(call);
  if (method === 'GET') {
    return path.watch ? watchResponse(call) : entryResponse(call, 200, presentEntry(call));
  }
  return method === 'DELETE' ? deleteOne(call, path.name) : change(call, path.name);
}

/** The verb of each method for a named object. */
const VERBS: Readonly<Record<string, Verb>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** An object is created in its collection, a subresource below its object. */
function allowedVerbs({ of, path }: ResourceCall): readonly Verb[] {
  if (path.subresource === undefined) return of.verbs.filter((verb) => verb !== 'create');
  return of.subresources.find(({ name }) => name === path.subresource)?.verbs ?? [];
}

function handleCollection(call: ResourceCall): Promise<HttpResponse> | HttpResponse {
  const { of, path, request } = call;
  if (request.method === 'GET') return isWatch(call) ? watchResponse(call) : listAll(call);
  if (of.namespaced && path.namespace === undefined) throw methodNotAllowed();
  if (request.method === 'POST') return createOne(call);
  const isDeletion = request.method === 'DELETE' && of.verbs.includes('deletecollection');
  if (isDeletion) return deleteMany(call);
  throw methodNotAllowed();
}

function listAll({ server, of, path, request }: ResourceCall): HttpResponse {
  const as = representationAs('List', of, request);
  const selection = selectionOf(of, path.namespace, request.query);
  const { entries, metadata } = listPage(of, selection, request.query);
  const body = encodeList(of, as, entries, metadata, server.clock.now());
  return bytesResponse(200, contentTypeOf(as), body);
}

async function createOne(call: ResourceCall): Promise<HttpResponse> {
  const { server, of, path, request } = call;
  const dryRun = isDryRun(request.query, 'CreateOptions');
  checkManager(request.query, 'CreateOptions', false);
  const received = receiveBody(call, of, 'CreateOptions');
  checkNamespace(of, path.namespace, received);
  const object = withManagers(received, undefined, () => managedWrite(call));
  const { namespace } = path;
  const requester = requesterOf(call, optionsObject('CreateOptions', request.query));
  const entry = await create(server, { of, namespace, object, isDryRun: dryRun, requester });
  return entryResponse(call, 201, entry);
}

async function change(call: ResourceCall, name: string): Promise<HttpResponse> {
  const { server, of, path, request } = call;
  const { namespace, subresource } = path;
  const warn = (warning: string): void => void request.warnings.push(warning);
  const options = request.method === 'PUT' ? 'UpdateOptions' : 'PatchOptions';
  const isConfiguration = request.method === 'PATCH' && isApply(request.headers['content-type']);
  checkManager(request.query, options, isConfiguration);
  const { entry, isNew } = await update(server, {
    of,
    namespace,
    name,
    subresource,
    mode: isConfiguration ? 'Apply' : request.method === 'PUT' ? 'Replace' : 'Patch',
    transform: transformation(call, fieldValidation(request.query, options), warn),
    isDryRun: isDryRun(request.query, options),
    requester: requesterOf(call, optionsObject('UpdateOptions', request.query)),
  });
  return entryResponse(call, isNew ? 201 : 200, entry);
}

/** Reads the body before anything is locked, so that a bad one costs others nothing. */
function transformation(
  call: ResourceCall,
  unknownFields: Parameters<typeof receive>[2],
  warn: (warning: string) => void,
): Parameters<typeof update>[1]['transform'] {
  const { of, path, request } = call;
  const contentType = request.headers['content-type'];
  if (request.method === 'PUT') {
    const object = receiveBody(call, of, 'UpdateOptions');
    checkNamespace(of, path.namespace, object);
    return (present) => withManagers(object, present, () => managedWrite(call));
  }
  if (isApply(contentType)) return application(call, unknownFields, warn);
  const patch = readPatch(of, request.body, contentType);
  return (present) => {
    if (present === undefined) throw notFound(of, path.name ?? '');
    const body = { object: patch.apply({ ...present }), duplicates: patch.duplicates };
    const refusal = (why: string): ApiStatusError => unreadablePatched(body.object, why);
    const object = receive(of, body, unknownFields, { warn, refusal });
    checkNamespace(of, path.namespace, object);
    return withManagers(object, present, () => managedWrite(call));
  };
}

function application(
  call: ResourceCall,
  unknownFields: Parameters<typeof receive>[2],
  warn: (warning: string) => void,
): Parameters<typeof update>[1]['transform'] {
  const { path, request } = call;
  const { namespace, name = '' } = path;
  const configuration = readConfiguration(request.body);
  const applyCall = {
    ...managedWrite(call),
    namespace,
    name,
    isForced: isForced(request.query),
    unknownFields,
    warn,
  };
  return (present) => applyTo(applyCall, configuration, present);
}

function managedWrite({ server, of, path, request }: ResourceCall): ManagedWrite {
  return {
    of,
    subresource: path.subresource,
    manager: managerName(request.query, request.headers['user-agent']),
    nowMs: server.clock.now(),
  };
}

/** The error for an object that a patch has made unreadable. */
function unreadablePatched(object: JsonObject, why: string): ApiStatusError {
  const problem = invalidValue('patch', JSON.stringify(object), why);
  return invalid({ group: '', kind: '' }, '', [problem]);
}

async function deleteOne(call: ResourceCall, name: string): Promise<HttpResponse> {
  const { server, of, path } = call;
  const options = deletionOptions(call);
  const { entry, isGone } = await remove(server, of, { namespace: path.namespace, name }, options, {
    requester: requesterOf(call, deleteOptionsObject(options)),
    name,
  });
  if (!isGone || of.strategy.returnsDeleted) return entryResponse(call, 200, entry);
  const { uid } = entry.object.metadata;
  const group = of.group === '' ? {} : { group: of.group };
  return jsonResponse(200, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...group, kind: of.plural, uid },
  });
}

/** Deletes the objects that a list would show, and answers with that list. */
async function deleteMany(call: ResourceCall): Promise<HttpResponse> {
  const { server, of, path, request } = call;
  const options = deletionOptions(call);
  const as = representationAs('List', of, request);
  const selection = selectionOf(of, path.namespace, request.query);
  const { entries, metadata } = listPage(of, selection, request.query);
  const requester = requesterOf(call, deleteOptionsObject(options));
  for (const { object } of entries) {
    const { namespace, name, uid } = object.metadata;
    const preconditions = { ...options.preconditions, uid };
    const ofThis = { ...options, preconditions };
    await remove(server, of, { namespace, name }, ofThis, { requester, name: '' }).catch(
      (error: unknown) => {
        // Another client deleted or replaced it meanwhile: it is not in the list any more.
        if (!isReason(error, 'NotFound', 'Conflict')) throw error;
      },
    );
  }
  const body = encodeList(of, as, entries, metadata, server.clock.now());
  return bytesResponse(200, contentTypeOf(as), body);
}

const DELETE_OPTIONS = { group: 'meta.k8s.io', version: 'v1', kind: 'DeleteOptions' };

function deletionOptions({ request }: ResourceCall): ReturnType<typeof deleteOptions> {
  const { body } = request;
  if (body === undefined || body.byteLength === 0) return deleteOptions(undefined, request.query);
  const { value } = readBody(body, request.headers['content-type'], kindSchema(DELETE_OPTIONS));
  return deleteOptions(value, request.query);
}
