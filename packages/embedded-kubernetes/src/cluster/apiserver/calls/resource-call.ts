/** A request for a resource, and what verbs and subresources need of it. */
import { formatFieldError, invalidValue } from '@lockstep/kube/field-error.ts';
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { failure } from '@lockstep/kube/status.ts';
import { badRequest, notFound } from '@lockstep/kube/status-errors.ts';
import { type IncludeObject, negotiate, type Representation } from '../http/content-negotiation.ts';
import { contentTypeOf, encodeOne } from '../http/encode.ts';
import { fieldValidation, receive } from '../http/receive.ts';
import { type ApiRequest, bytesResponse } from '../http/request.ts';
import { readObjectBody } from '../http/request-body.ts';
import type { ResourcePath } from '../http/request-path.ts';
import type { ApiObject } from '../resources/api-object.ts';
import type { Entry } from '../resources/entry.ts';
import {
  collectionKey,
  type ReceivedKind,
  type ServedResource,
} from '../resources/served-resource.ts';
import type { Requester } from '../webhooks/attributes.ts';
import type { ServerState } from './server-state.ts';

/** A request for a resource that the server has, with its path parsed. */
export interface ResourceCall {
  readonly server: ServerState;
  readonly of: ServedResource;
  readonly path: ResourcePath;
  readonly request: ApiRequest;
}

/** The representation that the client asked for. */
export function representationOf(request: ApiRequest): Representation {
  return negotiate(request.headers['accept'], () => includedObject(request));
}

/** The representation of a metadata answer, whose kind differs for lists and single objects. */
export function representationAs(
  shape: 'List' | 'Object',
  of: Pick<ServedResource, 'kind' | 'listKind'>,
  request: ApiRequest,
): Representation {
  const as = representationOf(request);
  if (as.form !== 'Metadata') return as;
  if (shape === 'List' && as.as === 'PartialObjectMetadata') {
    const why = `you requested ${as.as}, but the requested object is a list (${of.listKind})`;
    throw failure('NotAcceptable', why);
  }
  if (shape === 'Object' && as.as === 'PartialObjectMetadataList') {
    const why = `you requested ${as.as}, but the requested object is not a list (${of.kind})`;
    throw failure('NotAcceptable', why);
  }
  return as;
}

function includedObject({ query }: ApiRequest): IncludeObject {
  const include = query.get('includeObject') ?? '';
  if (include === '') return 'Metadata';
  if (include === 'None' || include === 'Object' || include === 'Metadata') return include;
  const why = "must be 'Metadata', 'Object', 'None', or empty";
  const problem = formatFieldError(invalidValue('includeObject', include, why));
  throw badRequest(`Unable to convert to Table as requested: ${problem}`);
}

export function entryResponse(call: ResourceCall, status: number, entry: Entry): HttpResponse {
  const { of, request, server } = call;
  const as = representationAs('Object', of, request);
  const body = encodeOne(of, as, entry, server.clock.now());
  return bytesResponse(status, contentTypeOf(as), body);
}

/** The entry that the path names. */
export function presentEntry({ of, path }: ResourceCall): Entry {
  const name = path.name ?? '';
  const entry = of.collection.get(collectionKey(path.namespace, name));
  if (entry === undefined) throw notFound(of, name);
  return entry;
}

/** Who sent the request, for admission. */
export function requesterOf(
  { request }: Pick<ResourceCall, 'request'>,
  options: JsonObject,
): Requester {
  const { user, signal, warnings } = request;
  return { user, signal, options, warn: (warning) => void warnings.push(warning) };
}

/** The body of a request as an object of a kind. */
export function receiveBody(
  { request }: Pick<ResourceCall, 'request'>,
  kind: ReceivedKind,
  options: string,
): ApiObject {
  const unknownFields = fieldValidation(request.query, options);
  const body = readObjectBody(request.body, request.headers['content-type'], kind);
  const warn = (warning: string): void => void request.warnings.push(warning);
  return receive(kind, body, unknownFields, { warn });
}
