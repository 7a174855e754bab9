import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import { describe, expect, it } from 'vitest';
import { objectAt } from '../resources/api-object.ts';
import type { TestServer } from '../test-server.ts';
import {
  CONFIG_MAPS,
  configMap,
  hook,
  MUTATING,
  patching,
  serverWith,
  TestWebhooks,
  VALIDATING,
} from './test-webhooks.fixture.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Two versions of one resource, stored as v1. */
const WIDGETS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              properties: { size: { type: 'integer', maximum: 9, default: 3 } },
            },
            status: { type: 'object', properties: { phase: { type: 'string' } } },
          },
        },
      },
      subresources: { status: {} },
    })),
  },
};

function rule(resources: readonly string[], members: object = {}): object {
  return { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources, ...members };
}

/** What each request is about. */
const REQUESTS: Readonly<Record<string, (server: TestServer) => Promise<unknown>>> = {
  'pods CREATE': (server) => server.post('/api/v1/namespaces/default/pods', pod('new')),
  'pods UPDATE': (server) =>
    server.patch('/api/v1/namespaces/default/pods/p', 'merge', {
      metadata: { labels: { a: 'b' } },
    }),
  'pods/status UPDATE': (server) =>
    server.patch('/api/v1/namespaces/default/pods/p/status', 'merge', { status: { message: 'x' } }),
  'pods/binding CREATE': (server) =>
    server.post('/api/v1/namespaces/default/pods/p/binding', {
      metadata: { name: 'p' },
      target: { kind: 'Node', name: 'n' },
    }),
  'pods/eviction CREATE': (server) =>
    server.post('/api/v1/namespaces/default/pods/p/eviction', { metadata: { name: 'p' } }),
  'namespaces CREATE': (server) => server.post('/api/v1/namespaces', { metadata: { name: 'n' } }),
  'widgets CREATE': (server) =>
    server.post('/apis/example.com/v1/namespaces/default/widgets', widget('v1')),
};

function pod(name: string): object {
  return { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } };
}

function widget(version: string, members: object = {}): object {
  return {
    apiVersion: `example.com/${version}`,
    kind: 'Widget',
    metadata: { name: 'w' },
    ...members,
  };
}

describe('rules', () => {
  it.each<[rule: object, asked: readonly string[]]>([
    [rule(['pods']), ['pods CREATE', 'pods UPDATE']],
    [rule(['pods'], { operations: ['CREATE'] }), ['pods CREATE']],
    [rule(['pods/status']), ['pods/status UPDATE']],
    [
      rule(['pods/*']),
      [
        'pods CREATE',
        'pods UPDATE',
        'pods/status UPDATE',
        'pods/binding CREATE',
        'pods/eviction CREATE',
      ],
    ],
    [rule(['*/status']), ['pods/status UPDATE']],
    [rule(['*']), ['pods CREATE', 'pods UPDATE', 'namespaces CREATE', 'widgets CREATE']],
    [rule(['*/*']), Object.keys(REQUESTS)],
    [rule(['*'], { apiGroups: [''] }), ['pods CREATE', 'pods UPDATE', 'namespaces CREATE']],
    [rule(['*'], { apiGroups: ['example.com'], apiVersions: ['v1'] }), ['widgets CREATE']],
    [rule(['*'], { apiGroups: ['example.com'], apiVersions: ['v7'] }), []],
    [rule(['*'], { scope: 'Cluster' }), ['namespaces CREATE']],
    [rule(['*'], { scope: 'Namespaced' }), ['pods CREATE', 'pods UPDATE', 'widgets CREATE']],
    [rule(['pods'], { operations: ['CONNECT', 'DELETE'] }), []],
  ])('%j', async (given, asked) => {
    for (const [what, send] of Object.entries(REQUESTS)) {
      const hooks = new TestWebhooks();
      hooks.on('v', () => ({}));
      const server = await serverWith(hooks);
      await server.post(CRDS, WIDGETS);
      await server.post('/api/v1/namespaces/default/pods', pod('p'));
      await server.post(VALIDATING, {
        metadata: { name: 'c' },
        webhooks: [hook('v', { rules: [given] })],
      });
      await send(server);
      const told = hooks.asked.map(({ request }) => {
        const { subResource } = request;
        const path = subResource === undefined ? '' : `/${subResource}`;
        return `${request.resource.resource}${path} ${request.operation}`;
      });
      expect(told).toEqual(asked.includes(what) ? [what] : []);
    }
  });

  it('that name another version match, unless they must match exactly', async () => {
    const hooks = new TestWebhooks();
    hooks.on('m', () => patching({ op: 'replace', path: '/spec/size', value: 5 }));
    const rules = [rule(['widgets'], { apiGroups: ['example.com'], apiVersions: ['v1'] })];
    const server = await serverWith(
      hooks,
      [MUTATING, 'a', [hook('m', { rules })]],
      [MUTATING, 'b', [hook('exact', { rules, matchPolicy: 'Exact' })]],
    );
    await server.post(CRDS, WIDGETS);
    const made = await server.post(
      '/apis/example.com/v2/namespaces/default/widgets',
      widget('v2', { spec: {} }),
    );
    expect(made).toMatchObject({
      status: 201,
      body: { apiVersion: 'example.com/v2', spec: { size: 5 } },
    });
    const { request } = hooks.take();
    expect(request.object).toMatchObject({ apiVersion: 'example.com/v1', spec: { size: 3 } });
    expect(request).toMatchObject({
      kind: { version: 'v1' },
      resource: { version: 'v1' },
      requestKind: { version: 'v2' },
      requestResource: { version: 'v2' },
    });
  });

  it('never cover the configurations of webhooks', async () => {
    const hooks = new TestWebhooks();
    const everything = [hook('m', { rules: [rule(['*/*'])] })];
    const server = await serverWith(
      hooks,
      [MUTATING, 'a', everything],
      [VALIDATING, 'a', everything],
    );
    const { status } = await server.delete(`${VALIDATING}/a`);
    const emptied = await server.patch(`${MUTATING}/a`, 'merge', { webhooks: [] });
    expect([status, emptied.status, hooks.takeNames()]).toEqual([200, 200, []]);
  });

  it('follow a configuration that changes', async () => {
    const hooks = new TestWebhooks();
    hooks.on('v', () => ({}));
    const server = await serverWith(hooks, [VALIDATING, 'c', []]);
    await server.post(CONFIG_MAPS, configMap('a'));
    expect(hooks.takeNames()).toEqual([]);
    await server.patch(`${VALIDATING}/c`, 'merge', { webhooks: [hook('v')] });
    await server.post(CONFIG_MAPS, configMap('b'));
    expect(hooks.takeNames()).toEqual(['v']);
    await server.delete(`${VALIDATING}/c`);
    await server.post(CONFIG_MAPS, configMap('c'));
    expect(hooks.takeNames()).toEqual([]);
  });
});

describe('a subresource', () => {
  it('can be changed on its way: a Binding is given another node', async () => {
    const hooks = new TestWebhooks();
    hooks.on('m', () => patching({ op: 'replace', path: '/target/name', value: 'other' }));
    const rules = [rule(['pods/binding'])];
    const server = await serverWith(hooks, [MUTATING, 'c', [hook('m', { rules })]]);
    await server.post('/api/v1/namespaces/default/pods', pod('p'));
    await REQUESTS['pods/binding CREATE']?.(server);
    expect(hooks.take().request).toMatchObject({
      kind: { kind: 'Binding' },
      resource: { resource: 'pods' },
      subResource: 'binding',
      name: 'p',
    });
    const { body } = await server.get('/api/v1/namespaces/default/pods/p');
    expect(objectAt(body, 'spec')['nodeName']).toBe('other');
  });

  it('of a custom resource changes only its part of the object, even through webhooks', async () => {
    const hooks = new TestWebhooks();
    hooks.on('m', () =>
      patching(
        { op: 'add', path: '/spec/size', value: 9 },
        { op: 'add', path: '/status/phase', value: 'changed' },
      ),
    );
    const rules = [rule(['widgets/status'])];
    const server = await serverWith(hooks, [MUTATING, 'c', [hook('m', { rules })]]);
    await server.post(CRDS, WIDGETS);
    const widgets = '/apis/example.com/v1/namespaces/default/widgets';
    await server.post(widgets, widget('v1', { spec: { size: 1 } }));
    const { body } = await server.patch(`${widgets}/w/status`, 'merge', { status: { phase: 'x' } });
    expect(body).toMatchObject({ spec: { size: 1 }, status: { phase: 'changed' } });
  });
});

describe('selectors', () => {
  it('for objects look at both states', async () => {
    const hooks = new TestWebhooks();
    hooks.on('v', () => ({}));
    const objectSelector = { matchLabels: { watched: 'yes' } };
    const server = await serverWith(hooks, [VALIDATING, 'c', [hook('v', { objectSelector })]]);
    await server.post(CONFIG_MAPS, configMap('x'));
    const label = (value: string | null): Promise<unknown> =>
      server.patch(`${CONFIG_MAPS}/x`, 'merge', { metadata: { labels: { watched: value } } });
    expect(hooks.takeNames()).toEqual([]);
    await label('yes');
    expect(hooks.takeNames()).toEqual(['v']);
    await label(null);
    expect(hooks.takeNames()).toEqual(['v']);
    await label('no');
    expect(hooks.takeNames()).toEqual([]);
  });

  it('see what webhooks before have made of the object', async () => {
    const hooks = new TestWebhooks();
    const label = { op: 'add', path: '/metadata/labels', value: { watched: 'yes' } };
    hooks.on('labels', () => patching(label));
    hooks.on('m', () => ({}));
    const objectSelector = { matchLabels: { watched: 'yes' } };
    const webhooks = [
      hook('early', { objectSelector }),
      hook('labels'),
      hook('m', { objectSelector }),
    ];
    const server = await serverWith(hooks, [MUTATING, 'c', webhooks]);
    await server.post(CONFIG_MAPS, configMap('x'));
    expect(hooks.takeNames()).toEqual(['labels', 'm']);
  });

  it('for namespaces look at the namespace of the object, and at a Namespace itself', async () => {
    const hooks = new TestWebhooks();
    hooks.on('v', () => ({}));
    const namespaceSelector = {
      matchExpressions: [{ key: 'team', operator: 'In', values: ['a'] }],
    };
    const rules = [rule(['configmaps', 'namespaces', 'nodes'])];
    const webhooks = [hook('v', { namespaceSelector, rules })];
    const server = await serverWith(hooks, [VALIDATING, 'c', webhooks]);
    const named = (name: string, labels: object): object => ({ metadata: { name, labels } });
    await server.post(CONFIG_MAPS, configMap('x'));
    await server.post('/api/v1/namespaces', named('other', { team: 'b' }));
    expect(hooks.takeNames()).toEqual([]);
    await server.post('/api/v1/namespaces', named('ours', { team: 'a' }));
    expect(hooks.take().request).toMatchObject({ name: 'ours', namespace: 'ours' });
    await server.post('/api/v1/namespaces/ours/configmaps', configMap('x'));
    expect(hooks.take().request).toMatchObject({ name: 'x', namespace: 'ours' });
    // A namespace cannot exempt what is in no namespace.
    await server.post('/api/v1/nodes', named('n', {}));
    expect(hooks.take().request).toMatchObject({ name: 'n' });
    await server.delete('/api/v1/namespaces/ours');
    expect(hooks.take().request).toMatchObject({ operation: 'DELETE', name: 'ours' });
  });

  it('can name a namespace by the label that every one has', async () => {
    const hooks = new TestWebhooks();
    hooks.on('v', () => ({}));
    const matchLabels = { 'kubernetes.io/metadata.name': 'default' };
    const webhooks = [hook('v', { namespaceSelector: { matchLabels } })];
    const server = await serverWith(hooks, [VALIDATING, 'c', webhooks]);
    await server.post('/api/v1/namespaces/kube-public/configmaps', configMap('x'));
    expect(hooks.takeNames()).toEqual([]);
    await server.post(CONFIG_MAPS, configMap('x'));
    expect(hooks.takeNames()).toEqual(['v']);
  });
});

describe('match conditions', () => {
  function conditions(...expressions: readonly string[]): JsonObject {
    return {
      matchConditions: expressions.map((expression, at) => ({ name: `c${at}`, expression })),
    };
  }

  it.each<[expressions: readonly string[], isAsked: boolean]>([
    [['object.data.a == "x"'], true],
    [['object.data.a == "y"'], false],
    [['object.data.a == "x"', 'request.operation == "UPDATE"'], false],
    [['oldObject == null', 'request.operation == "CREATE"'], true],
    [['request.userInfo.username == "admin"', '"system:masters" in request.userInfo.groups'], true],
    [['request.namespace == "default" && request.name == "x"'], true],
    [['request.resource.resource == "configmaps" && request.kind.kind == "ConfigMap"'], true],
    [['has(object.metadata.labels) && "a" in object.metadata.labels'], false],
    [['!request.dryRun'], true],
    [['request.options.fieldManager == "me"'], true],
    // A false condition decides, whatever errors the others have.
    [['object.data.missing == "x"', 'false'], false],
  ])('%j', async (expressions, isAsked) => {
    const hooks = new TestWebhooks();
    hooks.on('v', () => ({}));
    const webhooks = [hook('v', conditions(...expressions))];
    const server = await serverWith(hooks, [VALIDATING, 'c', webhooks]);
    const { status } = await server.post(
      `${CONFIG_MAPS}?fieldManager=me`,
      configMap('x', { data: { a: 'x' } }),
    );
    expect([status, hooks.takeNames().length]).toEqual([201, isAsked ? 1 : 0]);
  });

  it('that fail refuse the request, or exempt it where failures are ignored', async () => {
    for (const failurePolicy of ['Fail', 'Ignore']) {
      const hooks = new TestWebhooks();
      const webhooks = [hook('v', { ...conditions('object.data.missing == "x"'), failurePolicy })];
      const server = await serverWith(hooks, [VALIDATING, 'c', webhooks]);
      const { status, body } = await server.post(CONFIG_MAPS, configMap('x', { data: {} }));
      expect(hooks.takeNames()).toEqual([]);
      if (failurePolicy === 'Ignore') {
        expect(status).toBe(201);
      } else {
        expect(body).toMatchObject({ code: 403, reason: 'Forbidden' });
        expect(body['message']).toContain(
          'configmaps "x" is forbidden: expression \'object.data.missing == "x"\' resulted in error: ',
        );
      }
    }
  });
});
