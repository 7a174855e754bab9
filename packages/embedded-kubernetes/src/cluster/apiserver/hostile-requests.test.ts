import type { HttpRequest } from '@lockstep/kube/runtime/ports/transport.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TestServer } from './test-server.ts';

const SEGMENT = fc.constantFrom(
  'api',
  'apis',
  'v1',
  'batch',
  'namespaces',
  'default',
  'pods',
  'jobs',
  'configmaps',
  'events',
  'log',
  'status',
  'finalize',
  'binding',
  'token',
  'a',
  'watch',
  'openapi',
  'v3',
  'version',
  'customresourcedefinitions',
  'apiextensions.k8s.io',
  'serviceaccounts',
  '%',
  '%2e%2e',
  '..',
  '',
  '__proto__',
  'constructor',
  'authorization.k8s.io',
  'selfsubjectaccessreviews',
);
const QUERY = fc.constantFrom(
  '',
  'watch=1&timeoutSeconds=1',
  'limit=1',
  'limit=-1',
  'continue=e30',
  'labelSelector=a%3D%3D%3Db',
  'fieldSelector=__proto__%3D1',
  'resourceVersion=18446744073709551616',
  'fieldValidation=Strict',
  'dryRun=All',
  'gracePeriodSeconds=x',
  'propagationPolicy=',
  'resourceVersion=-1',
  '%zz=%zz',
);
const PATH = fc
  .tuple(fc.array(SEGMENT, { maxLength: 8 }), QUERY)
  .map(([segments, query]) => `/${segments.join('/')}${query === '' ? '' : `?${query}`}`);
const KNOWN_PATH = fc
  .tuple(
    fc.constantFrom(
      '/api/v1/namespaces/default/configmaps',
      '/api/v1/namespaces/default/configmaps/a',
      '/api/v1/namespaces/default/pods',
      '/api/v1/namespaces/default/pods/a/status',
      '/apis/batch/v1/namespaces/default/jobs',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      '/apis/events.k8s.io/v1/namespaces/default/events',
    ),
    QUERY,
  )
  .map(([path, query]) => (query === '' ? path : `${path}?${query}`));

/** Objects that are almost valid. */
const ALMOST = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, -1, 1.5, 1e300, '', 'a', '2026-01-01T00:00:00Z', '\u0000'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        'apiVersion',
        'kind',
        'metadata',
        'name',
        'generateName',
        'namespace',
        'labels',
        'spec',
        'status',
        'finalizers',
        'ownerReferences',
        'containers',
        'template',
        'selector',
        'names',
        'versions',
        'group',
        'data',
        '__proto__',
        'constructor',
        'resourceVersion',
        'uid',
        'op',
        'path',
        'value',
        '$patch',
        'creationTimestamp',
        'conditions',
        'schema',
        'openAPIV3Schema',
      ),
      tie('value'),
      { maxKeys: 5 },
    ),
  ),
})).value;

/** Named objects, so that more of them get as far as the rules of their kind. */
const NAMED = fc
  .tuple(fc.constantFrom('a', 'b'), ALMOST, ALMOST)
  .map(([name, spec, status]) => ({ metadata: { name }, spec, status }));
const TEMPLATED = ALMOST.map((spec) => ({ metadata: { name: 'a' }, spec: { template: { spec } } }));

const BODY = fc.oneof(
  fc.oneof(NAMED, TEMPLATED).map((value) => Buffer.from(JSON.stringify(value))),
  ALMOST.map((value) => Buffer.from(JSON.stringify(value))),
  fc.uint8Array({ maxLength: 40, size: 'max' }),
  fc
    .constantFrom('{', '[[[[', '{"a":1,"a":2}', '- a\n- b: [', '&a [*a, *a]', 'null')
    .map(Buffer.from),
);
const METHOD = fc.constantFrom<HttpRequest['method']>(
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
);
const HEADERS = fc.record(
  {
    'content-type': fc.constantFrom(
      'application/json',
      'application/yaml',
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/strategic-merge-patch+json',
      'application/vnd.kubernetes.protobuf',
      'text/plain',
      ';;;',
    ),
    accept: fc.constantFrom(
      'application/json;as=Table;g=meta.k8s.io;v=v1',
      'application/yaml',
      '*/*',
      ',,;q=x',
      'a/b',
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
    ),
  },
  { requiredKeys: [] },
);

describe('the API server', () => {
  it('answers every request in the API’s terms, and the next one too', async () => {
    const server = await TestServer.start();
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        METHOD,
        fc.oneof(PATH, KNOWN_PATH),
        fc.option(BODY, { nil: undefined }),
        HEADERS,
        async (method, path, body, headers) => {
          const answer = server.send(method, path, body, headers);
          // Watches end by their time-out.
          await server.clock.advance(2_000_000);
          const { status, text } = await answer;
          expect(status, text).not.toBe(500);
          if (status >= 400) {
            expect(text === '404 page not found\n' || text.includes('"kind":"Status"')).toBe(true);
          }
          const name = `fine-${round++}`;
          const maps = '/api/v1/namespaces/default/configmaps';
          const created = await server.post(maps, { metadata: { name } });
          expect(created.status).toBe(201);
          expect((await server.delete(`${maps}/${name}`)).status).toBe(200);
        },
      ),
      { numRuns: 500 },
    );
  });
});
