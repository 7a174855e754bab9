import { formatFieldError } from '@lockstep/kube/field-error.ts';
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { ConfigMap, Secret, Service } from '@lockstep/kube/objects/core.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { expect, test } from 'vitest';
import {
  configMapErrors,
  configMapUpdateErrors,
  secretErrors,
  secretUpdateErrors,
} from './configuration.ts';
import { defaultNamespace, defaultSecret } from './core-defaults.ts';
import { serviceErrors, serviceUpdateErrors } from './service.ts';
import { defaultService } from './service-defaults.ts';

const METADATA = { name: 'a', namespace: 'default' };

function told(errors: readonly FieldError[]): string[] {
  return errors.map(formatFieldError);
}

function serviceOf(spec: JsonObject): Service {
  return defaultService({ apiVersion: 'v1', kind: 'Service', metadata: METADATA, spec }) as Service;
}

test.each<[spec: JsonObject, problems: string[]]>([
  [{ clusterIP: 'None', selector: { a: 'b' } }, []],
  [{ selector: { a: 'b' } }, ['spec.ports: Required value']],
  [
    { ports: [{ port: 80 }, { port: 81 }] },
    ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value'],
  ],
  [
    { ports: [{ port: 80, nodePort: 30_000 }] },
    ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
  ],
  [
    { clusterIP: 'None', type: 'LoadBalancer' },
    [
      'spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for LoadBalancer services',
    ],
  ],
  [{ type: 'ExternalName' }, ['spec.externalName: Required value']],
])('a Service with %j', (spec, problems) => {
  expect(told(serviceErrors(serviceOf(spec)))).toEqual(problems);
});

test('a Service keeps its address', () => {
  const problems = told(
    serviceUpdateErrors(serviceOf({ ports: [{ port: 1 }] }), serviceOf({ clusterIP: 'None' })),
  );
  expect(problems).toEqual(['spec.clusterIPs[0]: Invalid value: []: may not change once set']);
});

test('a Service gets the defaults of the original server', () => {
  expect(serviceOf({ ports: [{ port: 80 }], sessionAffinity: 'ClientIP' }).spec).toEqual({
    type: 'ClusterIP',
    internalTrafficPolicy: 'Cluster',
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
    ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
  });
});

function configMapOf(members: JsonObject): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: METADATA, ...members };
}

function secretOf(members: JsonObject): Secret {
  return { apiVersion: 'v1', kind: 'Secret', metadata: METADATA, ...members };
}

test('keys of a ConfigMap become file names', () => {
  expect(told(configMapErrors(configMapOf({ data: { '..': 'x' } })))).toEqual([
    'data[..]: Invalid value: "..": must not be \'..\'',
  ]);
  expect(told(configMapErrors(configMapOf({ data: { a: 'x' }, binaryData: { a: '' } })))).toEqual([
    'data[a]: Invalid value: "a": duplicate of key present in binaryData',
  ]);
});

test('refuses changes of immutable fields', () => {
  const before = configMapOf({ data: { a: 'x' }, immutable: true });
  expect(told(configMapUpdateErrors(configMapOf({ data: { a: 'y' } }), before))).toEqual([
    'immutable: Forbidden: field is immutable when `immutable` is set',
    'data: Forbidden: field is immutable when `immutable` is set',
  ]);
  expect(told(secretUpdateErrors(secretOf({ type: 'x' }), secretOf({ type: 'Opaque' })))).toEqual([
    'type: Invalid value: "x": field is immutable',
  ]);
});

test('a Secret of a known type has its keys, and none is too large', () => {
  expect(told(secretErrors(secretOf({ type: 'kubernetes.io/tls' })))).toEqual([
    'data[tls.crt]: Required value',
    'data[tls.key]: Required value',
  ]);
  const data = { a: Buffer.alloc(1024 * 1024 + 1).toString('base64') };
  expect(told(secretErrors(secretOf({ data })))).toEqual([
    'data: Too long: may not be more than 1048576 bytes',
  ]);
});

test('texts of a Secret are encoded, over what was there', () => {
  const secret = secretOf({ stringData: { a: 'ä' }, data: { a: 'eA==', b: 'eQ==' } });
  expect(defaultSecret({ ...secret })).toEqual(
    secretOf({ type: 'Opaque', data: { a: 'w6Q=', b: 'eQ==' } }),
  );
});

test('a namespace is labelled with its name', () => {
  expect(defaultNamespace({ metadata: { name: 'n', labels: { a: 'b' } } })).toEqual({
    metadata: { name: 'n', labels: { a: 'b', 'kubernetes.io/metadata.name': 'n' } },
    spec: {},
    status: { phase: 'Active' },
  });
});
