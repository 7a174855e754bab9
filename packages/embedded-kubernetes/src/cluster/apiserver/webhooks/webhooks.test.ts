import { describe, expect, it } from 'vitest';
import { listAt, objectAt, valueAt } from '../resources/api-object.ts';
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

const ADD_DATA = { op: 'add', path: '/data', value: { by: 'hook' } };

describe('a request for admission', () => {
  it('describes the creation and its requester', async () => {
    const hooks = new TestWebhooks();
    hooks.on('v', () => ({}));
    const server = await serverWith(hooks, [VALIDATING, 'c', [hook('v', { timeoutSeconds: 3 })]]);
    const made = await server.post(
      `${CONFIG_MAPS}?fieldManager=me&fieldValidation=Strict`,
      configMap('a'),
    );
    expect(made.status).toBe(201);
    const { path, request } = hooks.take();
    expect(path).toBe('/v?timeout=3s');
    const { uid, object, ...rest } = request;
    expect(uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(object).toMatchObject({
      kind: 'ConfigMap',
      metadata: { name: 'a', namespace: 'default' },
    });
    expect(rest).toEqual({
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'a',
      namespace: 'default',
      operation: 'CREATE',
      userInfo: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
      oldObject: null,
      dryRun: false,
      options: {
        kind: 'CreateOptions',
        apiVersion: 'meta.k8s.io/v1',
        fieldManager: 'me',
        fieldValidation: 'Strict',
      },
    });
  });

  it('carries both states for every way to change an object', async () => {
    const hooks = new TestWebhooks();
    const server = await serverWith(hooks, [VALIDATING, 'c', [hook('v')]]);
    hooks.on('v', () => ({}));
    const { body } = await server.post(CONFIG_MAPS, configMap('a', { data: { n: '0' } }));
    hooks.take();
    const at = `${CONFIG_MAPS}/a`;
    const writes = [
      () => server.put(at, { ...body, data: { n: '1' } }),
      () => server.patch(at, 'merge', { data: { n: '2' } }),
      () => server.patch(at, 'json', [{ op: 'replace', path: '/data/n', value: '3' }]),
      () => server.patch(at, 'strategic', { data: { n: '4' } }),
    ];
    for (const [index, write] of writes.entries()) {
      expect((await write()).status).toBe(200);
      const { request } = hooks.take();
      expect(request).toMatchObject({
        operation: 'UPDATE',
        name: 'a',
        oldObject: { data: { n: String(index) } },
        object: { data: { n: String(index + 1) } },
        options: { kind: 'UpdateOptions' },
      });
      expect(request.object?.metadata.resourceVersion).toBe(
        request.oldObject?.metadata.resourceVersion,
      );
    }
  });

  it('is made for a deletion, and for each object of a collection', async () => {
    const hooks = new TestWebhooks();
    hooks.on('v', () => ({}));
    const server = await serverWith(hooks, [VALIDATING, 'c', [hook('v')]]);
    for (const name of ['a', 'b', 'c']) await server.post(CONFIG_MAPS, configMap(name));
    hooks.takeNames();
    await server.delete(`${CONFIG_MAPS}/a`, { propagationPolicy: 'Foreground' });
    expect(hooks.take().request).toMatchObject({
      operation: 'DELETE',
      name: 'a',
      object: null,
      oldObject: { metadata: { name: 'a' } },
      options: { kind: 'DeleteOptions', propagationPolicy: 'Foreground' },
    });
    await server.delete(CONFIG_MAPS);
    const deleted = hooks.asked.map(({ request }) => [
      request.name,
      request.oldObject?.metadata.name,
    ]);
    // The finalizer of the foreground deletion keeps the first object.
    expect(deleted).toEqual([
      [undefined, 'a'],
      [undefined, 'b'],
      [undefined, 'c'],
    ]);
  });

  it('is not made for a deletion that is under way and comes no sooner', async () => {
    const hooks = new TestWebhooks();
    hooks.on('v', () => ({}));
    const rules = [
      { operations: ['DELETE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] },
    ];
    const server = await serverWith(hooks, [VALIDATING, 'c', [hook('v', { rules })]]);
    const pods = '/api/v1/namespaces/default/pods';
    await server.post(pods, {
      metadata: { name: 'p' },
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
    });
    const seconds: readonly (readonly [grace: number, asked: number])[] = [
      [10, 1],
      [20, 0],
      [5, 1],
      [0, 1],
    ];
    for (const [gracePeriodSeconds, asked] of seconds) {
      await server.delete(`${pods}/p`, { gracePeriodSeconds });
      expect([gracePeriodSeconds, hooks.takeNames().length]).toEqual([gracePeriodSeconds, asked]);
    }
  });

  it('has no name before one is generated, and the generated one afterwards', async () => {
    const hooks = new TestWebhooks();
    hooks.on('m', () => ({}));
    hooks.on('v', () => ({}));
    const server = await serverWith(
      hooks,
      [MUTATING, 'm', [hook('m')]],
      [VALIDATING, 'v', [hook('v')]],
    );
    const made = await server.post(CONFIG_MAPS, {
      ...configMap(''),
      metadata: { generateName: 'x-' },
    });
    const [before, after] = hooks.asked;
    expect(before?.request.name).toBeUndefined();
    expect(after?.request.name).toMatch(/^x-.{5}$/);
    expect(made.body).toMatchObject({ metadata: { name: after?.request.name } });
  });

  it('says that it is dry, and then nothing is written', async () => {
    const hooks = new TestWebhooks();
    hooks.on('m', () => patching(ADD_DATA));
    const server = await serverWith(hooks, [MUTATING, 'm', [hook('m')]]);
    const made = await server.post(`${CONFIG_MAPS}?dryRun=All`, configMap('a'));
    expect(made).toMatchObject({ status: 201, body: { data: { by: 'hook' } } });
    expect(hooks.take().request).toMatchObject({ dryRun: true, options: { dryRun: ['All'] } });
    expect((await server.get(`${CONFIG_MAPS}/a`)).status).toBe(404);
    await server.post(CONFIG_MAPS, configMap('a'));
    hooks.takeNames();
    await server.delete(`${CONFIG_MAPS}/a?dryRun=All`);
    expect(hooks.take().request).toMatchObject({ dryRun: true, operation: 'DELETE' });
    expect((await server.get(`${CONFIG_MAPS}/a`)).status).toBe(200);
  });

  it('shows defaults that no schema can express', async () => {
    const hooks = new TestWebhooks();
    hooks.on('m', () => ({}));
    const rules = [
      { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] },
    ];
    const server = await serverWith(hooks, [MUTATING, 'm', [hook('m', { rules })]]);
    await server.post('/api/v1/namespaces/default/pods', {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    expect(hooks.take().request.object).toMatchObject({
      spec: { restartPolicy: 'Always', priority: 0, containers: [{ imagePullPolicy: 'Always' }] },
    });
  });
});

describe('mutating webhooks', () => {
  it('are asked in the order of their configurations’ names, each on what the last one left', async () => {
    const hooks = new TestWebhooks();
    for (const name of ['a1', 'a2', 'b1']) {
      hooks.on(name, ({ object }) => {
        const data = { ...objectAt(object, 'data'), [name]: 'x' };
        return patching({ op: 'add', path: '/data', value: data });
      });
    }
    const server = await serverWith(
      hooks,
      [MUTATING, 'b', [hook('b1')]],
      [MUTATING, 'a', [hook('a1'), hook('a2')]],
    );
    const { body } = await server.post(CONFIG_MAPS, configMap('x'));
    expect(hooks.takeNames()).toEqual(['a1', 'a2', 'b1']);
    expect(body['data']).toEqual({ a1: 'x', a2: 'x', b1: 'x' });
  });

  it('that want it are asked again, once, if a later one changed the object', async () => {
    const hooks = new TestWebhooks();
    hooks.on('first', () => ({}));
    hooks.on('never', () => ({}));
    hooks.on('second', ({ object }) => {
      const count = Number(valueAt(object, 'data', 'n') ?? 0);
      return patching({ op: 'add', path: '/data', value: { n: String(count + 1) } });
    });
    hooks.on('last', () => ({}));
    const again = { reinvocationPolicy: 'IfNeeded' };
    const server = await serverWith(hooks, [
      MUTATING,
      'c',
      [hook('first', again), hook('never'), hook('second', again), hook('last', again)],
    ]);
    const { body } = await server.post(CONFIG_MAPS, configMap('x'));
    expect(hooks.takeNames()).toEqual(['first', 'never', 'second', 'last', 'first']);
    expect(body['data']).toEqual({ n: '1' });
  });

  it('are not asked again if nothing changed, or only they changed it', async () => {
    const hooks = new TestWebhooks();
    hooks.on('one', () => patching(ADD_DATA));
    hooks.on('two', () => patching(ADD_DATA));
    const again = { reinvocationPolicy: 'IfNeeded' };
    const server = await serverWith(hooks, [
      MUTATING,
      'c',
      [hook('one', again), hook('two', again)],
    ]);
    await server.post(CONFIG_MAPS, configMap('x'));
    expect(hooks.takeNames()).toEqual(['one', 'two']);
  });

  it('cannot add what the schema does not know, and what they add is completed', async () => {
    const hooks = new TestWebhooks();
    hooks.on('m', () =>
      patching(
        { op: 'add', path: '/spec/containers/-', value: { name: 'x', image: 'i', bogus: 1 } },
        { op: 'add', path: '/nonsense', value: true },
      ),
    );
    const rules = [
      { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] },
    ];
    const server = await serverWith(hooks, [MUTATING, 'm', [hook('m', { rules })]]);
    const { status, body } = await server.post('/api/v1/namespaces/default/pods', {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    expect(status).toBe(201);
    expect(body).not.toHaveProperty('nonsense');
    const containers = listAt(body, 'spec', 'containers');
    expect(containers[1]).toMatchObject({ name: 'x', terminationMessagePolicy: 'File' });
    expect(containers[1]).not.toHaveProperty('bogus');
  });

  it('that make an object invalid cause a 422, before validating webhooks run', async () => {
    const hooks = new TestWebhooks();
    hooks.on('m', () => patching({ op: 'add', path: '/metadata/labels', value: { 'a b': 'c' } }));
    hooks.on('v', () => ({}));
    const server = await serverWith(
      hooks,
      [MUTATING, 'm', [hook('m')]],
      [VALIDATING, 'v', [hook('v')]],
    );
    const { status } = await server.post(CONFIG_MAPS, configMap('x'));
    expect([status, hooks.takeNames()]).toEqual([422, ['m']]);
  });

  it.each([
    [
      'does not apply',
      '[{"op":"remove","path":"/data/x"}]',
      'remove operation does not apply: doc is missing path: "/data/x"',
    ],
    [
      'changes the kind',
      '[{"op":"replace","path":"/kind","value":"Secret"}]',
      'Secret in version "v1" cannot be handled as a ConfigMap: expected kind "ConfigMap" of version "v1"',
    ],
  ])('whose patch %s fail the request, whatever their policy', async (_, patch, why) => {
    const hooks = new TestWebhooks();
    const encoded = Buffer.from(patch).toString('base64');
    hooks.on('m', () => ({ patch: encoded, patchType: 'JSONPatch' }));
    const server = await serverWith(hooks, [
      MUTATING,
      'm',
      [hook('m', { failurePolicy: 'Ignore' })],
    ]);
    const { status, body } = await server.post(CONFIG_MAPS, configMap('x'));
    expect([status, body['message']]).toEqual([500, `Internal error occurred: ${why}`]);
  });

  it('cannot change a deletion', async () => {
    const hooks = new TestWebhooks();
    hooks.on('m', ({ operation }) => (operation === 'DELETE' ? patching(ADD_DATA) : {}));
    const server = await serverWith(hooks, [MUTATING, 'm', [hook('m')]]);
    await server.post(CONFIG_MAPS, configMap('x'));
    const { status, body } = await server.delete(`${CONFIG_MAPS}/x`);
    const why =
      'admission webhook "m.example.com" attempted to modify the object, which is not supported for this operation';
    expect([status, body['message']]).toEqual([500, `Internal error occurred: ${why}`]);
  });

  it('may name the object', async () => {
    const hooks = new TestWebhooks();
    hooks.on('m', () => patching({ op: 'add', path: '/metadata/name', value: 'named' }));
    const server = await serverWith(hooks, [MUTATING, 'm', [hook('m')]]);
    await server.post(CONFIG_MAPS, { ...configMap(''), metadata: { generateName: 'x-' } });
    expect((await server.get(`${CONFIG_MAPS}/named`)).status).toBe(200);
  });
});

describe('validating webhooks', () => {
  it('see what will be stored, all at once, after the mutating ones', async () => {
    const hooks = new TestWebhooks();
    hooks.on('m', () => patching(ADD_DATA));
    let release = (): void => undefined;
    const bothWait = new Promise<void>((resolve) => {
      release = resolve;
    });
    let waiting = 0;
    for (const name of ['v1', 'v2']) {
      hooks.on(name, async () => {
        waiting++;
        if (waiting === 2) release();
        await bothWait;
        return {};
      });
    }
    const server = await serverWith(
      hooks,
      [VALIDATING, 'v', [hook('v1'), hook('v2')]],
      [MUTATING, 'z', [hook('m')]],
    );
    expect((await server.post(CONFIG_MAPS, configMap('x'))).status).toBe(201);
    const [, first] = hooks.asked;
    expect(first?.request.object).toMatchObject({
      data: { by: 'hook' },
      metadata: { uid: expect.any(String), creationTimestamp: expect.any(String) },
    });
    expect(hooks.takeNames()).toEqual(['m', 'v1', 'v2']);
  });

  it.each([
    [{}, 400, 'without explanation', undefined],
    [{ status: { message: 'no', code: 200 } }, 400, ': no', undefined],
    [{ status: { reason: 'Because' } }, 400, ': Because', 'Because'],
    [{ status: { code: 403, reason: 'Forbidden', message: 'no' } }, 403, ': no', 'Forbidden'],
    [{ status: { code: 9999, message: 'no' } }, 400, ': no', undefined],
  ])('refuse with %j', async (answer, code, why, reason) => {
    const hooks = new TestWebhooks();
    hooks.on('v', () => ({ allowed: false, ...answer }));
    const server = await serverWith(hooks, [VALIDATING, 'v', [hook('v')]]);
    const { status, body } = await server.post(CONFIG_MAPS, configMap('x'));
    expect(status).toBe(code);
    const denied = 'admission webhook "v.example.com" denied the request';
    expect(body).toMatchObject({ kind: 'Status', status: 'Failure', code });
    expect(body['message']).toBe(why.startsWith(':') ? denied + why : `${denied} ${why}`);
    expect(body['reason']).toBe(reason);
    expect((await server.get(`${CONFIG_MAPS}/x`)).status).toBe(404);
  });

  it('pass on every cause of a 422', async () => {
    const hooks = new TestWebhooks();
    const causes = [
      { reason: 'FieldValueInvalid', message: 'Invalid value: 1: odd', field: 'spec.a' },
      { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.b' },
    ];
    const details = { name: 'x', group: 'g', kind: 'K', causes };
    const refusal = { code: 422, reason: 'Invalid', message: 'K.g "x" is invalid', details };
    hooks.on('v', () => ({ allowed: false, status: refusal }));
    const server = await serverWith(hooks, [VALIDATING, 'v', [hook('v')]]);
    const { status, body } = await server.post(CONFIG_MAPS, configMap('x'));
    expect(status).toBe(422);
    expect(body).toMatchObject({ reason: 'Invalid', details });
  });

  it('protect an object from change and deletion', async () => {
    const hooks = new TestWebhooks();
    hooks.on('v', ({ operation }) => ({ allowed: operation === 'CREATE' }));
    const server = await serverWith(hooks, [VALIDATING, 'v', [hook('v')]]);
    await server.post(CONFIG_MAPS, configMap('x', { data: { a: 'b' } }));
    const at = `${CONFIG_MAPS}/x`;
    const { body } = await server.get(at);
    expect((await server.patch(at, 'merge', { data: { a: 'c' } })).status).toBe(400);
    expect((await server.put(at, body)).status).toBe(400);
    expect((await server.delete(at)).status).toBe(400);
    expect((await server.delete(CONFIG_MAPS)).status).toBe(400);
    expect((await server.get(at)).body).toEqual(body);
  });

  it('answer in their order where several refuse', async () => {
    const hooks = new TestWebhooks();
    const server = await serverWith(hooks, [VALIDATING, 'v', [hook('slow'), hook('quick')]]);
    hooks.on('slow', async () => {
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      return { allowed: false };
    });
    hooks.on('quick', () => ({ allowed: false }));
    const { body } = await server.post(CONFIG_MAPS, configMap('x'));
    expect(body['message']).toContain('"slow.example.com"');
  });
});

describe('warnings', () => {
  it('of the server and of all webhooks come together, also with a refusal', async () => {
    const hooks = new TestWebhooks();
    hooks.on('m', () => ({ warnings: ['first', 'twice'] }));
    hooks.on('v', () => ({ warnings: ['twice', 'with "quotes"'], allowed: false }));
    const server = await serverWith(
      hooks,
      [MUTATING, 'm', [hook('m')]],
      [VALIDATING, 'v', [hook('v')]],
    );
    const { status, headers } = await server.post(CONFIG_MAPS, configMap('x', { bogus: 1 }));
    expect(status).toBe(400);
    expect(headers['warning']).toBe(
      '299 - "unknown field \\"bogus\\"", 299 - "first", 299 - "twice", 299 - "with \\"quotes\\""',
    );
  });

  it('are cut to a length that heads of answers have', async () => {
    const hooks = new TestWebhooks();
    hooks.on('v', () => ({
      warnings: Array.from({ length: 40 }, (_, at) => `${at}:${'x'.repeat(5_000)}`),
    }));
    const server = await serverWith(hooks, [VALIDATING, 'v', [hook('v')]]);
    const { headers } = await server.post(CONFIG_MAPS, configMap('x'));
    const told = headers['warning']?.split(', ') ?? [];
    expect(told.length).toBeGreaterThan(10);
    expect(told[3]).toMatch(/^299 - "3:x{254}"$/);
    expect(headers['warning']?.length).toBeLessThanOrEqual(4_096);
  });
});

describe('writes that meet', () => {
  it('are decided again on the state that came first, webhooks included', async () => {
    const hooks = new TestWebhooks();
    const server = await serverWith(hooks, [VALIDATING, 'v', [hook('v')]]);
    hooks.on('v', () => ({}));
    await server.post(CONFIG_MAPS, configMap('x', { data: { a: '0' } }));
    const at = `${CONFIG_MAPS}/x`;
    let isFirst = true;
    hooks.on('v', async ({ object }) => {
      if (isFirst && valueAt(object, 'data', 'b') === '1') {
        isFirst = false;
        // A webhook that writes to the object under review: neither write waits for the other.
        await server.patch(at, 'merge', { data: { a: '1' } });
      }
      return {};
    });
    hooks.takeNames();
    const { status, body } = await server.patch(at, 'merge', { data: { b: '1' } });
    expect([status, body['data']]).toEqual([200, { a: '1', b: '1' }]);
    expect(hooks.asked.map(({ request }) => request.object?.['data'])).toEqual([
      { a: '0', b: '1' },
      { a: '1' },
      { a: '1', b: '1' },
    ]);
  });

  it('give up after some times, and a PUT at once', async () => {
    const hooks = new TestWebhooks();
    const server = await serverWith(hooks, [VALIDATING, 'v', [hook('v')]]);
    hooks.on('v', () => ({}));
    const { body } = await server.post(CONFIG_MAPS, configMap('x'));
    const at = `${CONFIG_MAPS}/x`;
    let count = 0;
    hooks.on('v', async ({ object }) => {
      const { annotations } = object?.metadata ?? {};
      if (annotations?.['mine'] !== undefined) {
        await server.patch(at, 'merge', { data: { n: String(count++) } });
      }
      return {};
    });
    const mine = { metadata: { annotations: { mine: 'x' } } };
    expect(await server.patch(at, 'merge', mine)).toMatchObject({
      status: 409,
      body: { reason: 'Conflict' },
    });
    expect(count).toBe(5);
    const now = await server.get(at);
    const metadata = { ...objectAt(now.body, 'metadata'), ...mine.metadata };
    const replaced = await server.put(at, { ...body, metadata });
    expect([replaced.status, count]).toEqual([409, 6]);
  });
});
