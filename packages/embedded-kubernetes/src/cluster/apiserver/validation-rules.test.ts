import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { describe, expect, it } from 'vitest';
import { TestServer } from './test-server.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GAUGES = '/apis/example.com/v1/namespaces/default/gauges';

const IMMUTABLE = { rule: 'self == oldSelf', message: 'Value is immutable' };

/**
 * A kind with rules at its root, its spec, a field, items of a keyed list, values of a map, and its
 * status.
 */
const SCHEMA: JsonSchema = {
  type: 'object',
  'x-kubernetes-validations': [
    { rule: "self.metadata.name.startsWith('g-')", message: "names begin with 'g-'" },
  ],
  properties: {
    spec: {
      type: 'object',
      required: ['low', 'high'],
      'x-kubernetes-validations': [
        { rule: 'self.low <= self.high' },
        {
          rule: '!has(self.unit) || self.unit in ["m", "s"]',
          messageExpression: "'no unit: ' + self.unit",
          reason: 'FieldValueForbidden',
          fieldPath: '.unit',
        },
      ],
      properties: {
        low: { type: 'integer' },
        high: { type: 'integer' },
        unit: { type: 'string', maxLength: 10 },
        kind: { type: 'string', maxLength: 10, 'x-kubernetes-validations': [IMMUTABLE] },
        marks: {
          type: 'array',
          maxItems: 10,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string', maxLength: 10 }, at: { type: 'integer' } },
            'x-kubernetes-validations': [
              { rule: 'self.at >= oldSelf.at', message: 'marks only rise' },
            ],
          },
        },
        labels: {
          type: 'object',
          maxProperties: 10,
          additionalProperties: {
            type: 'string',
            maxLength: 10,
            'x-kubernetes-validations': [{ rule: "self != ''", message: 'must not be empty' }],
          },
        },
      },
    },
    status: {
      type: 'object',
      properties: { reads: { type: 'integer' } },
      'x-kubernetes-validations': [
        { rule: 'self.reads >= oldSelf.reads', message: 'reads never fall' },
      ],
    },
  },
};

function definition(schema: JsonSchema): object {
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gauges.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'gauges', kind: 'Gauge' },
      versions: [{ ...version, subresources: { status: {} } }],
    },
  };
}

function gauge(spec: object, name = 'g-1'): JsonObject {
  const metadata = { name };
  return { apiVersion: 'example.com/v1', kind: 'Gauge', metadata, spec };
}

async function gaugeServer(spec?: object): Promise<TestServer> {
  const server = await TestServer.start();
  expect(await server.post(CRDS, definition(SCHEMA))).toMatchObject({ status: 201, body: {} });
  if (spec !== undefined) {
    expect(await server.post(GAUGES, gauge(spec))).toMatchObject({ status: 201 });
  }
  return server;
}

const FINE = { low: 1, high: 2 };

describe('rules of a custom resource', () => {
  it('refuse a new object with one cause for each that it violates', async () => {
    const server = await gaugeServer();
    const bad = gauge({ low: 3, high: 2, unit: 'kg', labels: { a: '' } }, 'x');
    const { status, body } = await server.post(GAUGES, bad);
    expect(status).toBe(422);
    expect(body).toMatchObject({
      reason: 'Invalid',
      message:
        'Gauge.example.com "x" is invalid: [<nil>: Invalid value: names begin with \'g-\', ' +
        'spec: Invalid value: failed rule: self.low <= self.high, ' +
        'spec.unit: Forbidden: no unit: kg, ' +
        'spec.labels[a]: Invalid value: "": must not be empty]',
      details: {
        causes: [
          { reason: 'FieldValueInvalid', field: '<nil>' },
          { reason: 'FieldValueInvalid', field: 'spec' },
          { reason: 'FieldValueForbidden', field: 'spec.unit', message: 'Forbidden: no unit: kg' },
          { reason: 'FieldValueInvalid', field: 'spec.labels[a]' },
        ],
      },
    });
  });

  it('do not run on an object that its schema refuses', async () => {
    const server = await gaugeServer();
    const { status, body } = await server.post(GAUGES, gauge({ low: 'x', high: 1 }));
    expect(status).toBe(422);
    expect(body).toMatchObject({
      details: {
        causes: [
          { field: 'spec.low', reason: 'FieldValueTypeInvalid' },
          {
            field: '<nil>',
            message:
              'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
          },
        ],
      },
    });
  });

  it.each([
    ['a merge patch', 'merge', { spec: { kind: 'b' } }],
    ['a JSON patch', 'json', [{ op: 'replace', path: '/spec/kind', value: 'b' }]],
  ] as const)('forbid %s of what is immutable', async (_name, type, patch) => {
    const server = await gaugeServer({ ...FINE, kind: 'a' });
    const refused = await server.patch(`${GAUGES}/g-1`, type, patch);
    expect(refused).toMatchObject({
      status: 422,
      body: {
        message:
          'Gauge.example.com "g-1" is invalid: spec.kind: Invalid value: "b": Value is immutable',
      },
    });
    expect(await server.patch(`${GAUGES}/g-1`, 'merge', { spec: { high: 9 } })).toMatchObject({
      status: 200,
    });
  });

  it('let an immutable field be set where there was none', async () => {
    const server = await gaugeServer(FINE);
    const set = await server.patch(`${GAUGES}/g-1`, 'merge', { spec: { kind: 'a' } });
    expect(set.status).toBe(200);
  });

  it('find the old item of a keyed list by its key, wherever it stands', async () => {
    const server = await gaugeServer({
      ...FINE,
      marks: [
        { name: 'a', at: 5 },
        { name: 'b', at: 1 },
      ],
    });
    const move = (marks: object[]) => server.patch(`${GAUGES}/g-1`, 'merge', { spec: { marks } });
    expect(
      await move([
        { name: 'b', at: 2 },
        { name: 'c', at: 0 },
        { name: 'a', at: 5 },
      ]),
    ).toMatchObject({ status: 200 });
    expect(await move([{ name: 'a', at: 4 }])).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'spec.marks[0]' }] } },
    });
  });

  it('hold for the status too, written through its subresource', async () => {
    const server = await gaugeServer(FINE);
    const report = (reads: number) =>
      server.patch(`${GAUGES}/g-1/status`, 'merge', { status: { reads } });
    expect(await report(2)).toMatchObject({ status: 200 });
    expect(await report(1)).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining('reads never fall') },
    });
  });

  it('hold for dry runs and for server-side defaults alike', async () => {
    const server = await gaugeServer();
    const refused = await server.post(`${GAUGES}?dryRun=All`, gauge({ low: 3, high: 2 }));
    expect(refused.status).toBe(422);
  });

  it('do not stop an update that leaves alone what an older definition allowed', async () => {
    const server = await gaugeServer({ ...FINE, unit: 'm' });
    const { 'x-kubernetes-validations': _rules, ...rest } = SCHEMA;
    const spec = SCHEMA.properties?.['spec'] ?? {};
    const stricter = {
      ...rest,
      properties: {
        ...SCHEMA.properties,
        spec: { ...spec, 'x-kubernetes-validations': [{ rule: "self.unit == 's'" }] },
      },
    };
    const { body } = await server.get(`${CRDS}/gauges.example.com`);
    const updated = await server.put(`${CRDS}/gauges.example.com`, {
      ...definition(stricter),
      metadata: body['metadata'],
    });
    expect(updated).toMatchObject({ status: 200 });
    const label = { metadata: { labels: { touched: 'yes' } } };
    expect(await server.patch(`${GAUGES}/g-1`, 'merge', label)).toMatchObject({ status: 200 });
    const change = { spec: { high: 7 } };
    expect(await server.patch(`${GAUGES}/g-1`, 'merge', change)).toMatchObject({ status: 422 });
  });

  it('are published with the schema', async () => {
    const server = await gaugeServer();
    const { text } = await server.get('/openapi/v3/apis/example.com/v1');
    expect(text).toContain('"x-kubernetes-validations":[{"rule":"self == oldSelf"');
  });
});

describe('a definition is refused', () => {
  it.each<[name: string, schema: JsonSchema, cause: object]>([
    [
      'for a rule about a field that is not there',
      { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.spec.size > 1' }] },
      {
        field: 'spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule',
        reason: 'FieldValueInvalid',
        message: expect.stringContaining("ERROR: <input>:1:5: undefined field 'spec'"),
      },
    ],
    [
      'for nested loops over unlimited lists',
      {
        type: 'object',
        properties: {
          spec: {
            type: 'object',
            properties: { l: { type: 'array', items: { type: 'string' } } },
            'x-kubernetes-validations': [{ rule: 'self.l.all(a, self.l.exists_one(b, a == b))' }],
          },
        },
      },
      {
        field: 'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule',
        reason: 'FieldValueForbidden',
        message: expect.stringContaining('estimated rule cost exceeds budget by factor of'),
      },
    ],
  ])('%s', async (_name, schema, cause) => {
    const server = await TestServer.start();
    const { status, body } = await server.post(CRDS, definition(schema));
    expect(status).toBe(422);
    expect(body).toMatchObject({ details: { causes: expect.arrayContaining([cause]) } });
  });
});
