/** The environment of a container, from every source that a spec can name. */

import type { Container, EnvVar, Pod } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import type { PodFields } from '../field-reference.ts';
import type { ConfigurationSource } from '../volume/configuration-source.ts';
import { buildEnvironment } from './environment.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'p',
    namespace: 'ns',
    uid: 'u',
    labels: { app: 'web' },
    annotations: { 'example.com/a.b': 'note' },
  },
  spec: {
    containers: [{ name: 'other', resources: { requests: { memory: '1Gi' } } }],
    serviceAccountName: 'sa',
  },
};
const facts: PodFields = {
  pod,
  podIP: '127.1.0.2',
  hostIP: '127.1.0.1',
  nodeName: 'n1',
  allocatable: { cpu: '3500m' },
};
const metadata = { name: 'x', namespace: 'ns' };
const source: ConfigurationSource = {
  configMap: (name) =>
    name === 'map'
      ? { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { k: 'v', l: 'w' } }
      : undefined,
  claim: () => undefined,
  secret: (name) =>
    name === 'keys'
      ? {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata,
          data: { token: Buffer.from('s3').toString('base64') },
        }
      : undefined,
};

function build(container: Partial<Container>): unknown {
  const given = new Map([['LOCKSTEP_ROOT', '/root']]);
  const result = buildEnvironment({ name: 'c', ...container }, facts, source, given);
  if (result.variables === undefined) return result.problem;
  const { LOCKSTEP_ROOT: _, ...rest } = Object.fromEntries(result.variables);
  return rest;
}

function field(fieldPath: string): EnvVar {
  return { name: 'F', valueFrom: { fieldRef: { fieldPath } } };
}

describe('the environment of a container', () => {
  it.each([
    ['metadata.name', 'p'],
    ['metadata.namespace', 'ns'],
    ['metadata.uid', 'u'],
    ["metadata.labels['app']", 'web'],
    ["metadata.labels['none']", ''],
    ["metadata.annotations['example.com/a.b']", 'note'],
    ['spec.nodeName', 'n1'],
    ['spec.serviceAccountName', 'sa'],
    ['status.podIP', '127.1.0.2'],
    ['status.hostIP', '127.1.0.1'],
  ])('has %s', (path, value) => {
    expect(build({ env: [field(path)] })).toEqual({ F: value });
  });

  it('expands values with earlier variables, and with given ones', () => {
    const env = [
      { name: 'A', value: '$(LOCKSTEP_ROOT)/data' },
      { name: 'B', value: '$(A)-$(C)' },
      { name: 'C', value: 'late' },
    ];
    expect(build({ env })).toEqual({ A: '/root/data', B: '/root/data-$(C)', C: 'late' });
  });

  it('takes whole ConfigMaps and Secrets, with a prefix, and lets env win', () => {
    expect(
      build({
        envFrom: [
          { configMapRef: { name: 'map' } },
          { prefix: 'S_', secretRef: { name: 'keys' } },
          { configMapRef: { name: 'none', optional: true } },
        ],
        env: [{ name: 'l', value: 'own' }],
      }),
    ).toEqual({ k: 'v', l: 'own', S_token: 's3' });
  });

  it.each<[string, Partial<Container>, unknown]>([
    [
      'a key',
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'keys', key: 'token' } } }] },
      { A: 's3' },
    ],
    [
      'an optional key that is not there',
      {
        env: [
          { name: 'A', valueFrom: { configMapKeyRef: { name: 'map', key: 'z', optional: true } } },
        ],
      },
      {},
    ],
    [
      'a missing map',
      { envFrom: [{ configMapRef: { name: 'none' } }] },
      'configmap "none" not found',
    ],
    [
      'a missing secret',
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'none', key: 'k' } } }] },
      'secret "none" not found',
    ],
    [
      'a missing key',
      { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'map', key: 'z' } } }] },
      "couldn't find key z in ConfigMap ns/map",
    ],
    [
      'an unknown field',
      { env: [field('spec.hostname.x')] },
      'unsupported fieldPath: spec.hostname.x',
    ],
    [
      'a limit in units',
      {
        resources: { limits: { memory: '1Gi' } },
        env: [
          {
            name: 'M',
            valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } },
          },
        ],
      },
      { M: '1024' },
    ],
    [
      'a limit, rounded up',
      {
        resources: { limits: { cpu: '1500m' } },
        env: [{ name: 'M', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }],
      },
      { M: '2' },
    ],
    [
      'a limit that is not set: what the node offers',
      { env: [{ name: 'M', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }] },
      { M: '4' },
    ],
    [
      'a request that is not set',
      { env: [{ name: 'M', valueFrom: { resourceFieldRef: { resource: 'requests.cpu' } } }] },
      { M: '0' },
    ],
    [
      'a request of another container',
      {
        env: [
          {
            name: 'M',
            valueFrom: {
              resourceFieldRef: { containerName: 'other', resource: 'requests.memory' },
            },
          },
        ],
      },
      { M: '1073741824' },
    ],
    [
      'a limit that neither it nor the node has',
      { env: [{ name: 'M', valueFrom: { resourceFieldRef: { resource: 'limits.none' } } }] },
      'container has no resource limits.none',
    ],
  ])('with %s', (_, container, expected) => {
    expect(build(container)).toEqual(expected);
  });
});
