/** The part of `/openapi/v2` that kubectl needs. */

import { resourcePath } from '@lockstep/kube/resource.ts';
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { stringify } from 'yaml';
import type { PublishedResource } from '../../../api-machinery/openapi/published-resource.ts';
import { type ApiRequest, bytesResponse } from '../http/request.ts';

/**
 * Serves `/openapi/v2` for one purpose. If kubectl does not find a kind in version 3, it looks here
 * whether the server validates fields. It reads protocol buffers only (`gnostic` `openapiv2`). The
 * document has each resource with its PATCH and the parameter `fieldValidation`, and nothing else.
 */
export function openApiV2(
  resources: readonly PublishedResource[],
  version: string,
  request: ApiRequest,
): HttpResponse | undefined {
  if (request.path !== '/openapi/v2' || request.method !== 'GET') return undefined;
  const paths = resources
    .filter((of) => of.verbs.includes('patch'))
    .map((of) => field(2, [field(1, patchPath(of)), field(2, pathItem(of))]));
  const info = [field(1, 'Kubernetes'), field(2, version)];
  const document = Buffer.concat([field(1, '2.0'), field(2, info), field(8, paths)]);
  return bytesResponse(200, CONTENT_TYPE, document);
}

const CONTENT_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

function patchPath(of: PublishedResource): string {
  return `${resourcePath(of, of.namespaced ? { namespace: 'NAMESPACE' } : {})}/{name}`;
}

/** Field numbers come from PathItem, Operation, ParametersItem and their members. */
function pathItem({ group, version, kind }: PublishedResource): readonly Buffer[] {
  const query = [field(2, 'query'), field(4, 'fieldValidation'), field(6, 'string')];
  const parameter = [field(1, [field(2, [field(3, query)])])];
  const extension = [
    field(1, 'x-kubernetes-group-version-kind'),
    field(2, [field(2, stringify({ group, kind, version }))]),
  ];
  return [field(8, [field(8, parameter), field(13, extension)])];
}

/** Encodes a text or message field: number, length, bytes. */
function field(number: number, content: string | readonly Buffer[]): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.concat(content);
  return Buffer.concat([varint(number * 8 + LENGTH_DELIMITED), varint(bytes.byteLength), bytes]);
}

const LENGTH_DELIMITED = 2;

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  return Buffer.from([...bytes, rest]);
}
