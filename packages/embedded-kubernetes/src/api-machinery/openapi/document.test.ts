import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { object, string } from '@lockstep/kube/schema/builders.ts';
import { describe, expect, test } from 'vitest';
import { kindSchema } from '../kind-schemas/kind-definitions.ts';
import { documentKey, openApiDocument, openApiIndex } from './document.ts';
import type { PublishedResource } from './published-resource.ts';

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const STATUS = { name: 'status', verbs: ['get', 'patch', 'update'] };

const POD_RESOURCE: PublishedResource = {
  ...PODS,
  listKind: 'PodList',
  schema: kindSchema(PODS),
  verbs: VERBS,
  subresources: [
    STATUS,
    {
      name: 'binding',
      verbs: ['create'],
      kind: { group: '', version: 'v1', kind: 'Binding' },
    },
  ],
  custom: false,
};
const JOB_RESOURCE: PublishedResource = {
  ...JOBS,
  listKind: 'JobList',
  schema: kindSchema(JOBS),
  verbs: VERBS,
  subresources: [STATUS],
  custom: false,
};
const CUSTOM_RESOURCE: PublishedResource = {
  group: 'jobset.x-k8s.io',
  version: 'v1alpha2',
  plural: 'jobsets',
  kind: 'JobSet',
  namespaced: true,
  listKind: 'JobSetList',
  schema: object({ spec: object({ name: string('A name.') }) }),
  verbs: VERBS,
  subresources: [STATUS],
  custom: true,
};

/** What is found at a path of members; fails where there is nothing. */
function at(document: unknown, ...path: readonly string[]): JsonObject {
  let value = document;
  for (const member of path) {
    if (!isJsonObject(value) || !(member in value)) throw new Error(`no ${member} of ${path}`);
    value = value[member];
  }
  return value as JsonObject;
}

function referencesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isJsonObject(value)) return [];
  const { $ref } = value;
  const own = typeof $ref === 'string' ? [$ref] : [];
  return [...own, ...Object.values(value).flatMap(referencesIn)];
}

describe('a document', () => {
  const document = openApiDocument([POD_RESOURCE], 'v1.36.3');
  const pods = at(document, 'paths', '/api/v1/namespaces/{namespace}/pods');
  const pod = at(document, 'paths', '/api/v1/namespaces/{namespace}/pods/{name}');

  test('has every path of its resources, and nothing else', () => {
    expect(Object.keys(at(document, 'paths'))).toEqual([
      '/api/v1/pods',
      '/api/v1/namespaces/{namespace}/pods',
      '/api/v1/namespaces/{namespace}/pods/{name}',
      '/api/v1/namespaces/{namespace}/pods/{name}/status',
      '/api/v1/namespaces/{namespace}/pods/{name}/binding',
    ]);
    expect(Object.keys(pods)).toEqual(['get', 'post', 'delete', 'parameters']);
    expect(Object.keys(pod)).toEqual(['get', 'put', 'patch', 'delete', 'parameters']);
  });

  test('tells that the server itself validates fields', () => {
    for (const operation of [at(pods, 'post'), at(pod, 'put'), at(pod, 'patch')]) {
      expect(operation['parameters']).toContainEqual({
        name: 'fieldValidation',
        in: 'query',
        schema: { type: 'string', uniqueItems: true },
      });
    }
  });

  test('tells actions and kinds', () => {
    expect(at(pods, 'get')).toMatchObject({
      'x-kubernetes-action': 'list',
      'x-kubernetes-group-version-kind': { group: '', version: 'v1', kind: 'Pod' },
    });
    const binding = at(document, 'paths', '/api/v1/namespaces/{namespace}/pods/{name}/binding');
    expect(at(binding, 'post', 'x-kubernetes-group-version-kind')).toMatchObject({
      kind: 'Binding',
    });
  });

  test('names every operation once', () => {
    const names = Object.values(at(document, 'paths')).flatMap((item) =>
      Object.values(item as JsonObject).flatMap((operation) =>
        isJsonObject(operation) ? [operation['operationId']] : [],
      ),
    );
    expect(new Set(names).size).toBe(names.length);
  });

  test('describes shared schemas once, and refers to no other', () => {
    const references = referencesIn(document);
    const schemas = Object.keys(at(document, 'components', 'schemas'));
    const known = new Set(schemas.map((name) => `#/components/schemas/${name}`));
    expect(references.filter((reference) => !known.has(reference))).toEqual([]);
    expect(
      at(document, 'components', 'schemas', 'io.k8s.api.core.v1.PodSpec', 'properties'),
    ).toMatchObject({
      containers: {
        items: { $ref: '#/components/schemas/io.k8s.api.core.v1.Container' },
        'x-kubernetes-patch-merge-key': 'name',
      },
    });
  });
});

test('custom resources take no strategic merge patch, built-in ones do', () => {
  const typesOf = (resource: PublishedResource, path: string): readonly string[] => {
    const document = openApiDocument([resource], 'v1');
    return Object.keys(at(document, 'paths', path, 'patch', 'requestBody', 'content'));
  };
  expect(typesOf(JOB_RESOURCE, '/apis/batch/v1/namespaces/{namespace}/jobs/{name}')).toContain(
    'application/strategic-merge-patch+json',
  );
  expect(
    typesOf(
      CUSTOM_RESOURCE,
      '/apis/jobset.x-k8s.io/v1alpha2/namespaces/{namespace}/jobsets/{name}',
    ),
  ).toEqual([
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/apply-patch+yaml',
  ]);
});

test('a custom resource is found by its kind', () => {
  const schemas = at(openApiDocument([CUSTOM_RESOURCE], 'v1'), 'components', 'schemas');
  expect(schemas['io.x-k8s.jobset.v1alpha2.JobSet']).toMatchObject({
    'x-kubernetes-group-version-kind': [
      { group: 'jobset.x-k8s.io', kind: 'JobSet', version: 'v1alpha2' },
    ],
  });
  expect(Object.keys(schemas)).toContain('io.x-k8s.jobset.v1alpha2.JobSetList');
});

test('a schema that contains itself is published, and ends', () => {
  const document = openApiDocument(
    [
      {
        ...CUSTOM_RESOURCE_DEFINITIONS,
        listKind: 'CustomResourceDefinitionList',
        schema: kindSchema(CUSTOM_RESOURCE_DEFINITIONS),
        verbs: VERBS,
        subresources: [],
        custom: false,
      },
    ],
    'v1',
  );
  const name = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';
  expect(at(document, 'components', 'schemas', name, 'properties')['items']).toEqual({
    $ref: `#/components/schemas/${name}`,
  });
});

test('the URL of a document changes exactly when the document does', () => {
  const [first, again, other] = ['{"a":1}', '{"a":1}', '{"a":2}'].map(
    (text) => at(openApiIndex(new Map([['api/v1', text]])), 'paths', 'api/v1')['serverRelativeURL'],
  );
  expect(first).toMatch(/^\/openapi\/v3\/api\/v1\?hash=[0-9a-f]{16}$/);
  expect([again === first, other === first]).toEqual([true, false]);
  expect([POD_RESOURCE, JOB_RESOURCE].map(documentKey)).toEqual(['api/v1', 'apis/batch/v1']);
});
