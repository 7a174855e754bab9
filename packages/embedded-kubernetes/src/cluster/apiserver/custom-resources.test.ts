import { describe, expect, it } from 'vitest';
import { TestServer } from './test-server.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets';

function widgetDefinition(names: object = {}, version: object = {}): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'], ...names },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  properties: {
                    size: { type: 'integer', minimum: 1, default: 3 },
                    color: { type: 'string', enum: ['red', 'green'] },
                  },
                },
                status: { type: 'object', properties: { phase: { type: 'string' } } },
              },
            },
          },
          subresources: { status: {} },
          additionalPrinterColumns: [
            { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
          ...version,
        },
      ],
    },
  };
}

async function widgetServer(): Promise<TestServer> {
  const server = await TestServer.start();
  const created = await server.post(CRDS, widgetDefinition());
  expect(created).toMatchObject({ status: 201 });
  return server;
}

const WIDGET = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } };

describe('a custom resource', () => {
  it('is established and served as soon as its definition was accepted', async () => {
    const server = await widgetServer();
    const { body } = await server.get(`${CRDS}/widgets.example.com`);
    expect(body['status']).toMatchObject({
      acceptedNames: { plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
      storedVersions: ['v1'],
      conditions: [
        { type: 'NamesAccepted', status: 'True' },
        { type: 'Established', status: 'True' },
      ],
    });
    expect((await server.get(WIDGETS)).body).toMatchObject({ kind: 'WidgetList', items: [] });
    expect((await server.get('/apis/example.com/v1')).body).toMatchObject({
      resources: [{ name: 'widgets', shortNames: ['wd'] }, { name: 'widgets/status' }],
    });
  });

  it('is pruned, defaulted and validated by its schema', async () => {
    const server = await widgetServer();
    const created = await server.post(WIDGETS, { ...WIDGET, spec: { color: 'red', shape: 'x' } });
    expect(created.status).toBe(201);
    expect(created.body['spec']).toEqual({ color: 'red', size: 3 });
    expect(created.headers['warning']).toBe('299 - "unknown field \\"spec.shape\\""');
    const bad = { ...WIDGET, metadata: { name: 'b' }, spec: { color: 'blue', size: 0 } };
    const refused = await server.post(WIDGETS, bad);
    expect(refused.status).toBe(422);
    expect(refused.body['message']).toBe(
      'Widget.example.com "b" is invalid: [spec.color: Unsupported value: "blue": supported values: "red", "green", spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1]',
    );
  });

  it('keeps status and spec apart, and counts generations of the spec', async () => {
    const server = await widgetServer();
    await server.post(WIDGETS, { ...WIDGET, spec: { size: 1 }, status: { phase: 'x' } });
    const { body: first } = await server.get(`${WIDGETS}/a`);
    expect(first).not.toHaveProperty('status');
    const status = await server.patch(`${WIDGETS}/a/status`, 'merge', {
      metadata: { labels: { ignored: 'yes' } },
      spec: { size: 9 },
      status: { phase: 'Ready' },
    });
    expect(status.body).toMatchObject({
      metadata: { generation: 1 },
      spec: { size: 1 },
      status: { phase: 'Ready' },
    });
    expect(status.body['metadata']).not.toHaveProperty('labels');
    const spec = await server.patch(`${WIDGETS}/a`, 'merge', {
      spec: { size: 2 },
      status: { phase: 'lost' },
    });
    expect(spec.body).toMatchObject({
      metadata: { generation: 2 },
      spec: { size: 2 },
      status: { phase: 'Ready' },
    });
  });

  it('is printed by the columns of its definition', async () => {
    const server = await widgetServer();
    await server.post(WIDGETS, { ...WIDGET, spec: { size: 7 } });
    await server.clock.advance(90_000);
    const table = await server.get(WIDGETS, 'application/json;as=Table;g=meta.k8s.io;v=v1');
    expect(table.body).toMatchObject({
      kind: 'Table',
      columnDefinitions: [{ name: 'Name' }, { name: 'Size' }, { name: 'Age' }],
      rows: [{ cells: ['a', 7, '90s'], object: { kind: 'PartialObjectMetadata' } }],
    });
  });

  it('takes no strategic merge patch', async () => {
    const server = await widgetServer();
    await server.post(WIDGETS, WIDGET);
    const refused = await server.patch(`${WIDGETS}/a`, 'strategic', { spec: { size: 2 } });
    expect(refused.body).toMatchObject({ code: 415, reason: 'UnsupportedMediaType' });
  });

  it('takes its objects with it when the definition is deleted, finalizers permitting', async () => {
    const server = await widgetServer();
    await server.post(WIDGETS, WIDGET);
    const held = { name: 'held', finalizers: ['example.com/hold'] };
    await server.post(WIDGETS, { ...WIDGET, metadata: held });
    await server.delete(`${CRDS}/widgets.example.com`);
    const { body } = await server.get(WIDGETS);
    expect(body['items']).toMatchObject([{ metadata: { name: 'held' } }]);
    const late = await server.post(WIDGETS, { ...WIDGET, metadata: { name: 'late' } });
    expect(late.body).toMatchObject({ code: 405, message: /terminating/ });
    await server.patch(`${WIDGETS}/held`, 'merge', { metadata: { finalizers: null } });
    await server.clock.settle();
    expect((await server.get(`${CRDS}/widgets.example.com`)).status).toBe(404);
    expect((await server.get(WIDGETS)).text).toBe('404 page not found\n');
  });

  it('is not served under names that another definition has', async () => {
    const server = await widgetServer();
    const other = {
      ...widgetDefinition({ plural: 'gadgets', kind: 'Widget' }),
      metadata: { name: 'gadgets.example.com' },
    };
    await server.post(CRDS, other);
    const { body } = await server.get(`${CRDS}/gadgets.example.com`);
    expect(body['status']).toMatchObject({
      conditions: [
        { type: 'NamesAccepted', status: 'False', reason: 'SingularConflict' },
        { type: 'Established', status: 'False' },
      ],
    });
    expect((await server.get('/apis/example.com/v1/namespaces/default/gadgets')).status).toBe(404);
  });

  it('survives a restart of the server on the same storage', async () => {
    const server = await widgetServer();
    await server.post(WIDGETS, WIDGET);
    const again = await TestServer.start({ storage: server.storage });
    expect((await again.get(`${WIDGETS}/a`)).body).toMatchObject({ metadata: { name: 'a' } });
  });
});
