import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import { handlerTransport } from '@lockstep/kube/runtime/memory/memory-transport.ts';
import { createMetrics } from '@lockstep/kube/runtime/metrics.ts';
import { describe, expect, it } from 'vitest';
import { textOf } from '../custom-resources/printer-columns.ts';
import { TestServer } from '../test-server.ts';
import type { MoreMetrics } from './metrics-page.ts';

const AGGREGATED =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

describe('discovery', () => {
  it('tells the same in its plain and in its aggregated form', async () => {
    const server = await TestServer.start();
    for (const root of ['/api', '/apis']) {
      const { body, headers } = await server.get(root, AGGREGATED);
      expect(headers['content-type']).toContain('as=APIGroupDiscoveryList');
      for (const group of listOf(body, 'items')) {
        const name = (group['metadata'] as JsonObject)['name'];
        for (const version of listOf(group, 'versions')) {
          const path = name === undefined ? '/api' : `/apis/${textOf(name)}`;
          const plain = await server.get(`${path}/${String(version['version'])}`);
          expect(plainNames(plain.body)).toEqual(aggregatedNames(version));
        }
      }
    }
  });

  it('names what each resource can', async () => {
    const server = await TestServer.start();
    const { body } = await server.get('/api/v1');
    expect(body['resources']).toContainEqual({
      name: 'pods',
      singularName: 'pod',
      namespaced: true,
      kind: 'Pod',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['po'],
      categories: ['all'],
    });
    expect(body['resources']).toContainEqual({
      name: 'pods/eviction',
      singularName: '',
      namespaced: true,
      group: 'policy',
      version: 'v1',
      kind: 'Eviction',
      verbs: ['create'],
    });
  });

  it('lists every listable resource that is served', async () => {
    const server = await TestServer.start();
    const { body } = await server.get('/apis');
    const roots = listOf(body, 'groups').flatMap((group) =>
      listOf(group, 'versions').map(({ groupVersion }) => `/apis/${String(groupVersion)}`),
    );
    for (const root of ['/api/v1', ...roots]) {
      for (const of of listOf((await server.get(root)).body, 'resources')) {
        const verbs = of['verbs'] as readonly string[];
        if (String(of['name']).includes('/') || !verbs.includes('list')) continue;
        const list = await server.get(`${root}/${String(of['name'])}`);
        expect(list.body).toMatchObject({ kind: `${String(of['kind'])}List` });
      }
    }
  });

  it.each([
    ['/apis/nothing.example.com', '404 page not found\n'],
    ['/nothing', '404 page not found\n'],
  ])('of %s says that there is no such page', async (path, text) => {
    const server = await TestServer.start();
    expect(await server.get(path)).toMatchObject({ status: 404, text });
  });

  it.each([
    ['GET', '/apis/batch/v9', 404, 'NotFound'],
    ['GET', '/api/v1/nothings', 404, 'NotFound'],
    ['GET', '/api/v1/namespaces/default/pods/a/nothing', 404, 'NotFound'],
    ['GET', '/api/v1/namespaces/default/nodes', 404, 'NotFound'],
    ['GET', '/api/v1/pods/a', 404, 'NotFound'],
    ['POST', '/api/v1/pods', 405, 'MethodNotAllowed'],
    ['DELETE', '/api/v1/namespaces', 405, 'MethodNotAllowed'],
    ['PUT', '/api/v1/namespaces/default/pods/a/log', 405, 'MethodNotAllowed'],
    ['POST', '/api/v1', 405, 'MethodNotAllowed'],
    ['GET', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 405, 'MethodNotAllowed'],
  ] as const)('%s %s answers %i', async (method, path, code, reason) => {
    const server = await TestServer.start();
    expect((await server.send(method, path)).body).toMatchObject({ kind: 'Status', code, reason });
  });

  it('serves the metrics, if there are any, to authenticated clients', async () => {
    const metrics = createMetrics();
    metrics.counter({ name: 'jobs_total', help: 'Jobs' }).add({}, 2);
    const server = await TestServer.start({ metrics });
    expect(await server.get('/metrics')).toMatchObject({
      status: 200,
      text: expect.stringContaining('jobs_total 2'),
    });
    const anonymous = handlerTransport(server.api.handler, { address: '127.0.0.1' });
    const { signal } = new AbortController();
    const request = { method: 'GET', path: '/metrics', headers: {}, signal } as const;
    expect((await anonymous.send(request)).status).toBe(401);
    expect((await (await TestServer.start()).get('/metrics')).status).toBe(404);
  });

  describe('metrics of a program beside the cluster', () => {
    async function pageWith(moreMetrics: MoreMetrics): Promise<{ status: number; text: string }> {
      const metrics = createMetrics();
      metrics.counter({ name: 'jobs_total', help: 'Jobs' }).add({}, 2);
      const server = await TestServer.start({ metrics, moreMetrics });
      const page = server.get('/metrics');
      await server.clock.advance(5000);
      return page;
    }

    it('are on the same page', async () => {
      const { status, text } = await pageWith(() => Promise.resolve('# HELP more More\nmore 3\n'));
      expect([status, text.endsWith('\njobs_total 2\n# HELP more More\nmore 3\n')]).toEqual([
        200,
        true,
      ]);
    });

    it.each<readonly [string, MoreMetrics, string]>([
      ['fails', () => Promise.reject(new Error('it has\nended')), 'it has ended'],
      ['does not answer', () => new Promise(() => undefined), 'not done within 5000 ms'],
      [
        'says too much',
        () => Promise.resolve(' '.repeat(16 * 1024 * 1024 + 1)),
        'they have 16777217 bytes, expected at most 16777216',
      ],
    ])('are missing if it %s, and a comment says why', async (_, moreMetrics, why) => {
      const { status, text } = await pageWith(moreMetrics);
      expect(status).toBe(200);
      expect(text).toContain('\njobs_total 2\n');
      const missing = `# The metrics of another program are missing: ${why}\n`;
      expect(text.endsWith(missing), text).toBe(true);
    });
  });

  it('publishes OpenAPI of the served resources, under a new address when they change', async () => {
    const server = await TestServer.start();
    const addressOf = async (key: string): Promise<string> => {
      const paths = (await server.get('/openapi/v3')).body['paths'] as JsonObject;
      return String((paths[key] as JsonObject | undefined)?.['serverRelativeURL']);
    };
    const address = await addressOf('apis/batch/v1');
    const document = await server.get(address);
    expect(document.body).toMatchObject({ openapi: '3.0.0' });
    expect(document.text).toContain('io.k8s.api.batch.v1.JobSpec');
    expect(await addressOf('apis/batch/v1')).toBe(address);
    expect(await addressOf('apis/example.com/v1')).toBe('undefined');
  });
});

function listOf(object: JsonObject, member: string): readonly JsonObject[] {
  return object[member] as readonly JsonObject[];
}

function plainNames(list: JsonObject): readonly unknown[] {
  return listOf(list, 'resources').map(({ name }) => name);
}

function aggregatedNames(version: JsonObject): readonly string[] {
  return listOf(version, 'resources').flatMap((of) => {
    const resource = String(of['resource']);
    const subresources = (of['subresources'] ?? []) as readonly JsonObject[];
    return [resource, ...subresources.map((sub) => `${resource}/${String(sub['subresource'])}`)];
  });
}
