/**
 * What the recorded answers to applies do not show; the rules themselves are tested in
 * `packages/embedded-kubernetes/src/api-machinery/apply/`.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { objectAt } from './resources/api-object.ts';
import { TestServer } from './test-server.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

let server: TestServer;

beforeEach(async () => {
  server = await TestServer.start();
});

function apply(path: string, body: object | string, query = 'fieldManager=alice') {
  return server.send('PATCH', `${path}?${query}`, body, APPLY);
}

function map(data: object): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data };
}

function pod(spec: object, more: object = {}): object {
  const containers = [{ name: 'main', image: 'none' }];
  const metadata = { name: 'p' };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers, ...spec }, ...more };
}

/**
 * Each manager with the operation and subresource that it owns by, as `NAME OPERATION SUBRESOURCE`.
 */
async function managers(path: string): Promise<Record<string, unknown>> {
  const { managedFields = [] } = objectAt((await server.get(path)).body, 'metadata');
  const entries = managedFields as readonly Readonly<Record<string, string>>[];
  return Object.fromEntries(
    entries.map(({ manager, operation, subresource = '', fieldsV1 }) => [
      `${manager} ${operation} ${subresource}`.trim(),
      fieldsV1,
    ]),
  );
}

describe('an object that was never applied', () => {
  it('has no managers after any write', async () => {
    await server.post(PODS, pod({}));
    await server.patch(`${PODS}/p`, 'merge', { metadata: { labels: { a: 'b' } } });
    await server.patch(`${PODS}/p/status`, 'merge', { status: { message: 'x' } });
    await server.put(`${PODS}/p`, (await server.get(`${PODS}/p`)).body);
    expect(await managers(`${PODS}/p`)).toEqual({});
  });

  it('has none that it is created with', async () => {
    await apply(`${MAPS}/m`, map({ a: '1' }));
    const { body } = await server.get(`${MAPS}/m`);
    const { managedFields } = objectAt(body, 'metadata');
    const copy = { ...map({ a: '1' }), metadata: { name: 'copy', managedFields } };
    expect((await server.post(MAPS, copy)).status).toBe(201);
    expect(await managers(`${MAPS}/copy`)).toEqual({});
  });
});

describe('an object that was applied', () => {
  it('is not written when the same is applied again, and watches show nothing', async () => {
    await apply(`${MAPS}/m`, map({ a: '1' }));
    const watch = server.watch(`${MAPS}?watch=1`);
    await watch.take();
    await server.clock.advance(5_000);
    const again = await apply(`${MAPS}/m`, map({ a: '1' }));
    expect(again.status).toBe(200);
    expect(await watch.take()).toEqual([]);
    await apply(`${MAPS}/m`, map({ a: '2' }));
    expect((await watch.take()).map(({ type }) => type)).toEqual(['MODIFIED']);
    watch.close();
  });

  it('tells when a manager last changed it', async () => {
    await apply(`${MAPS}/m`, map({ a: '1' }));
    const timeOf = async (): Promise<unknown> => {
      const { managedFields } = objectAt((await server.get(`${MAPS}/m`)).body, 'metadata');
      return JSON.stringify(managedFields).match(/"time":"([^"]+)"/)?.[1];
    };
    const first = await timeOf();
    await server.clock.advance(5_000);
    await apply(`${MAPS}/m`, map({ a: '1' }));
    expect(await timeOf()).toBe(first);
    await apply(`${MAPS}/m`, map({ a: '2' }));
    expect(await timeOf()).not.toBe(first);
  });

  it('keeps its managers through writes of those who do not know of them', async () => {
    await apply(`${MAPS}/m`, map({ a: '1', b: '2' }));
    await server.send('PUT', `${MAPS}/m`, map({ a: '1', b: '3' }), { 'user-agent': 'old/1.0 (x)' });
    expect(await managers(`${MAPS}/m`)).toEqual({
      'alice Apply': { 'f:data': { 'f:a': {} } },
      'old Update': { 'f:data': { 'f:b': {} } },
    });
  });

  it('takes managers from a client that sets them, and loses them to one that clears them', async () => {
    await apply(`${MAPS}/m`, map({ a: '1' }));
    const entry = {
      manager: 'bob',
      operation: 'Apply',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { 'f:a': {} } },
    };
    const set = (managedFields: readonly object[]) =>
      server.patch(`${MAPS}/m`, 'merge', { metadata: { managedFields } });
    await set([entry]);
    expect(Object.keys(await managers(`${MAPS}/m`))).toEqual(['bob Apply']);
    await set([{ ...entry, operation: 'Delete' }]);
    expect(Object.keys(await managers(`${MAPS}/m`))).toEqual(['bob Apply']);
    await set([]);
    expect(await managers(`${MAPS}/m`)).toEqual({});
  });

  it('is changed through a subresource by managers of that subresource', async () => {
    await apply(`${PODS}/p`, pod({}));
    const bound = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' } };
    await server.post(`${PODS}/p/binding`, { ...bound, target: { kind: 'Node', name: 'n' } });
    const look = { name: 'look', image: 'sh' };
    await server.send(
      'PATCH',
      `${PODS}/p/ephemeralcontainers?fieldManager=debug`,
      { metadata: { labels: { a: 'b' } }, spec: { ephemeralContainers: [look] } },
      { 'content-type': 'application/strategic-merge-patch+json' },
    );
    await apply(`${PODS}/p/status`, pod({ nodeName: 'other' }, { status: { message: 'm' } }));
    const found = await managers(`${PODS}/p`);
    expect(Object.keys(found).toSorted()).toEqual([
      'alice Apply',
      'alice Apply status',
      'debug Update ephemeralcontainers',
    ]);
    expect(found['alice Apply status']).toEqual({ 'f:status': { 'f:message': {} } });
    expect(found['debug Update ephemeralcontainers']).toMatchObject({
      'f:spec': { 'f:ephemeralContainers': { 'k:{"name":"look"}': {} } },
    });
    expect((await server.get(`${PODS}/p`)).body).toMatchObject({ spec: { nodeName: 'n' } });
  });

  it('keeps them over a restart of the server', async () => {
    await apply(`${MAPS}/m`, map({ a: '1' }));
    const { storage } = server;
    server = await TestServer.start({ storage });
    expect((await apply(`${MAPS}/m`, map({ a: '2' }), 'fieldManager=bob')).body).toMatchObject({
      reason: 'Conflict',
      details: { causes: [{ reason: 'FieldManagerConflict', field: '.data.a' }] },
    });
  });
});

describe('an apply', () => {
  it('succeeds if another client creates the object at the same time', async () => {
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((key) => apply(`${MAPS}/m`, map({ [key]: '1' }), `fieldManager=${key}`)),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 201]);
    expect((await server.get(`${MAPS}/m`)).body['data']).toEqual({ a: '1', b: '1', c: '1' });
  });

  it('refuses a text that expands without end', async () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (let at = 0; at < 12; at++) {
      const [from, to] = [String.fromCharCode(97 + at), String.fromCharCode(98 + at)];
      bomb.push(`${to}: &${to} [*${from}, *${from}, *${from}, *${from}, *${from}, *${from}]`);
    }
    expect((await apply(`${MAPS}/m`, bomb.join('\n'))).body).toMatchObject({
      code: 400,
      message: expect.stringContaining('error decoding YAML'),
    });
  });

  it('refuses a text that is nested without end', async () => {
    const { body } = await apply(`${MAPS}/m`, '['.repeat(20_000));
    expect(body).toMatchObject({ code: 400, reason: 'BadRequest' });
  });

  it('says nothing of managers, or null', async () => {
    const withNone = (managedFields: unknown) =>
      apply(`${MAPS}/m`, { ...map({ a: '1' }), metadata: { name: 'm', managedFields } });
    expect((await withNone(null)).status).toBe(201);
    expect(Object.keys(await managers(`${MAPS}/m`))).toEqual(['alice Apply']);
    expect((await withNone([])).body).toMatchObject({
      code: 400,
      message: 'metadata.managedFields must be nil',
    });
  });

  it('takes the first of several documents', async () => {
    const one = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: "1"}\n';
    const { status, body } = await apply(`${MAPS}/m`, `${one}---\nkind: Other\n`);
    expect(status).toBe(201);
    expect(body['data']).toEqual({ a: '1' });
  });

  it('is forced only if it says so', async () => {
    await apply(`${MAPS}/m`, map({ a: '1' }));
    const forced = (value: string) =>
      apply(`${MAPS}/m`, map({ a: value }), `fieldManager=bob&force=${value}`);
    expect((await forced('false')).status).toBe(409);
    expect((await forced('0')).status).toBe(409);
    expect((await forced('true')).status).toBe(200);
  });

  it('names members that are given twice, with their lines', async () => {
    const text =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  a: "1"\n  a: "2"\n';
    const { headers, body } = await apply(`${MAPS}/m`, text);
    expect(headers['warning']).toBe('299 - "line 6: key \\"a\\" already set in map"');
    expect(body['data']).toEqual({ a: '2' });
  });
});
