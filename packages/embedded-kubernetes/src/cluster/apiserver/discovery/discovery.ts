/** The discovery documents, from which clients learn the served resources. */
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import { apiVersionOf } from '@lockstep/kube/resource.ts';
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { unknownResource } from '@lockstep/kube/status-errors.ts';
import { acceptedTypes } from '../http/content-negotiation.ts';
import { type ApiRequest, bytesResponse, jsonResponse, pathNotFound } from '../http/request.ts';
import type { DiscoveredResource, Subresource } from '../resources/served-resource.ts';

/**
 * Answers paths that name no resource: `/api`, `/apis`, `/apis/GROUP`, `/api/v1` and
 * `/apis/GROUP/VERSION`, in plain and aggregated form. Undefined for other paths.
 */
export function discover(
  resources: readonly DiscoveredResource[],
  request: ApiRequest,
): HttpResponse | undefined {
  const [root, group, version, ...more] = request.segments;
  if (root === undefined) return jsonResponse(200, { paths: rootPaths(resources) });
  if (root === 'api') {
    if (group === undefined) return coreVersions(resources, request);
    return version === undefined ? versionResources(resources, '', group) : undefined;
  }
  if (root !== 'apis' || more.length > 0) return undefined;
  if (group === undefined) return groups(resources, request);
  const known = resources.filter((of) => of.group === group);
  if (known.length === 0) return pathNotFound();
  if (version !== undefined) return versionResources(known, group, version);
  return jsonResponse(200, { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(known, group) });
}

/** The paths that `/` lists. */
function rootPaths(resources: readonly DiscoveredResource[]): readonly string[] {
  const paths = new Set(['/api', '/apis', '/healthz', '/livez', '/openapi/v3', '/readyz']);
  for (const { group, version } of resources) {
    if (group !== '') paths.add(`/apis/${group}`);
    paths.add(group === '' ? `/api/${version}` : `/apis/${group}/${version}`);
  }
  return [...paths.add('/version')].toSorted((a, b) => (a < b ? -1 : 1));
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

function coreVersions(resources: readonly DiscoveredResource[], request: ApiRequest): HttpResponse {
  const core = resources.filter((of) => of.group === '');
  if (wantsAggregated(request)) return aggregated([groupDiscovery(core, '')]);
  return jsonResponse(200, {
    kind: 'APIVersions',
    versions: versionsOf(core),
    serverAddressByClientCIDRs: [
      { clientCIDR: '0.0.0.0/0', serverAddress: request.headers['host'] ?? '' },
    ],
  });
}

function groups(resources: readonly DiscoveredResource[], request: ApiRequest): HttpResponse {
  const names = [...new Set(resources.map((of) => of.group))].filter((name) => name !== '').sort();
  const membersOf = (name: string): readonly DiscoveredResource[] =>
    resources.filter((of) => of.group === name);
  if (wantsAggregated(request)) {
    return aggregated(names.map((name) => groupDiscovery(membersOf(name), name)));
  }
  const list = names.map((name) => groupOf(membersOf(name), name));
  return jsonResponse(200, { kind: 'APIGroupList', apiVersion: 'v1', groups: list });
}

function versionResources(
  resources: readonly DiscoveredResource[],
  group: string,
  version: string,
): HttpResponse {
  const known = resources.filter((of) => of.group === group && of.version === version);
  if (known.length === 0) throw unknownResource();
  const list = known.toSorted(byPlural).flatMap((of) => [
    {
      name: of.plural,
      singularName: of.singular,
      namespaced: of.namespaced,
      kind: of.kind,
      verbs: of.verbs,
      ...unlessEmpty('shortNames', of.shortNames),
      ...unlessEmpty('categories', of.categories),
    },
    ...of.subresources.toSorted(byName).map((subresource) => ({
      name: `${of.plural}/${subresource.name}`,
      singularName: '',
      namespaced: of.namespaced,
      ...foreignKind(of, subresource),
      kind: subresource.kind?.kind ?? of.kind,
      verbs: subresource.verbs,
    })),
  ]);
  const groupVersion = apiVersionOf({ group, version });
  return jsonResponse(200, {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion,
    resources: list,
  });
}

/** Group and version of a subresource's kind, if they are not the resource's own. */
function foreignKind(of: DiscoveredResource, { kind }: Subresource): JsonObject {
  if (kind === undefined || (kind.group === of.group && kind.version === of.version)) return {};
  return { group: kind.group, version: kind.version };
}

function groupOf(resources: readonly DiscoveredResource[], name: string): JsonObject {
  const versions = versionsOf(resources).map((version) => ({
    groupVersion: `${name}/${version}`,
    version,
  }));
  return { name, versions, preferredVersion: versions[0] };
}

function wantsAggregated(request: ApiRequest): boolean {
  const [first] = acceptedTypes(request.headers['accept']);
  return (
    first?.type === 'application/json' &&
    first.parameters.get('as') === 'APIGroupDiscoveryList' &&
    first.parameters.get('v') === 'v2'
  );
}

function aggregated(items: readonly JsonObject[]): HttpResponse {
  const list = {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items,
  };
  return bytesResponse(200, AGGREGATED, Buffer.from(JSON.stringify(list)));
}

function groupDiscovery(resources: readonly DiscoveredResource[], name: string): JsonObject {
  return {
    metadata: name === '' ? {} : { name },
    versions: versionsOf(resources).map((version) => ({
      version,
      resources: resources
        .filter((of) => of.version === version)
        .toSorted(byPlural)
        .map(resourceDiscovery),
      freshness: 'Current',
    })),
  };
}

function resourceDiscovery(of: DiscoveredResource): JsonObject {
  const kindOf = (kind: string, group = '', version = ''): JsonObject => ({ group, version, kind });
  const subresources = of.subresources.toSorted(byName).map(({ name, kind, verbs }) => ({
    subresource: name,
    responseKind:
      kind === undefined ? kindOf(of.kind) : kindOf(kind.kind, kind.group, kind.version),
    verbs,
  }));
  return {
    resource: of.plural,
    responseKind: kindOf(of.kind),
    scope: of.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: of.singular,
    verbs: of.verbs,
    ...unlessEmpty('shortNames', of.shortNames),
    ...unlessEmpty('categories', of.categories),
    ...unlessEmpty('subresources', subresources),
  };
}

/** Versions by maturity, the most mature and newest first: `v2`, `v1`, `v1beta2`, `v1alpha1`. */
function versionsOf(resources: readonly DiscoveredResource[]): readonly string[] {
  return [...new Set(resources.map((of) => of.version))].sort(
    (a, b) => maturity(b) - maturity(a) || (a < b ? -1 : 1),
  );
}

function maturity(version: string): number {
  const match = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/.exec(version);
  if (match === null) return 0;
  const [, major, stage, minor] = match;
  const level = stage === undefined ? 3 : stage === 'beta' ? 2 : 1;
  return level * 1e12 + Number(major) * 1e6 + Number(minor ?? 0);
}

function byPlural(a: DiscoveredResource, b: DiscoveredResource): number {
  return a.plural < b.plural ? -1 : 1;
}

function byName(a: Subresource, b: Subresource): number {
  return a.name < b.name ? -1 : 1;
}

function unlessEmpty(name: string, list: readonly unknown[]): JsonObject {
  return list.length === 0 ? {} : { [name]: list };
}
