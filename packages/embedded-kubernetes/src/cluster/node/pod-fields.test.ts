/**
 * Goes through every field that the API has for Pods and their parts: the node, the scheduler or
 * the API server acts on it, or the Event names it. So fields of later APIs are covered too.
 */

import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { POD_DEFINITIONS, POD_SPEC } from '@lockstep/kube/pod-schema/pod-definitions.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { describe, expect, it } from 'vitest';
import { defaultPod } from '../../api-machinery/validation/pod/pod-defaults.ts';
import { ignoredFields } from './pod/ignored-fields.ts';

/** Fields with an effect, by type of the API. */
const HONOURED: Readonly<Record<string, string>> = {
  PodSpec: [
    // The node.
    'containers initContainers ephemeralContainers',
    'volumes restartPolicy readinessGates hostname subdomain resources',
    'terminationGracePeriodSeconds activeDeadlineSeconds shareProcessNamespace hostPID hostAliases',
    // The API server.
    'serviceAccountName serviceAccount automountServiceAccountToken priorityClassName priority',
    'preemptionPolicy',
    // The scheduler, which names fields that it ignores.
    'nodeName nodeSelector affinity tolerations schedulerName schedulingGates',
    'topologySpreadConstraints schedulingGroup',
    // The way in which Pods run by default.
    'hostNetwork hostIPC dnsPolicy enableServiceLinks os hostUsers',
  ].join(' '),
  Container: [
    'name command args workingDir env envFrom ports resources restartPolicy restartPolicyRules',
    'volumeMounts lifecycle livenessProbe readinessProbe startupProbe stdin stdinOnce',
    'terminationMessagePath terminationMessagePolicy',
    // An image is a name here.
    'image imagePullPolicy',
  ].join(' '),
  ResourceRequirements: 'requests',
  ContainerPort: 'name containerPort protocol',
  VolumeMount: 'name mountPath subPath subPathExpr',
  Lifecycle: 'postStart preStop',
  PersistentVolumeClaimVolumeSource: 'claimName',
};

interface Place {
  readonly schema: JsonSchema | undefined;
  /** Its name in the Event. */
  readonly prefix: string;
  /** A Pod with these fields there. */
  readonly spec: (fields: JsonObject) => JsonObject;
}

function inContainer(
  schema: JsonSchema | undefined,
  prefix: string,
  container: (fields: JsonObject) => JsonObject,
): Place {
  const spec = (fields: JsonObject): JsonObject => ({
    containers: [{ name: 'a', image: 'i', ...container(fields) }],
  });
  return { schema, prefix: `containers[a].${prefix}`, spec };
}

function core(name: string): JsonSchema {
  return POD_DEFINITIONS.get(`io.k8s.api.core.v1.${name}`);
}

const PLACES: readonly Place[] = [
  { schema: POD_SPEC, prefix: '', spec: (fields) => fields },
  {
    schema: core('ResourceRequirements'),
    prefix: 'resources.',
    spec: (resources) => ({ resources }),
  },
  inContainer(core('Container'), '', (fields) => fields),
  inContainer(core('ResourceRequirements'), 'resources.', (resources) => ({ resources })),
  inContainer(core('Lifecycle'), 'lifecycle.', (lifecycle) => ({ lifecycle })),
  inContainer(core('ContainerPort'), 'ports[80].', (port) => ({
    ports: [{ containerPort: 80, ...port }],
  })),
  inContainer(core('VolumeMount'), 'volumeMounts[/v].', (mount) => ({
    volumeMounts: [{ name: 'v', mountPath: '/v', ...mount }],
  })),
  {
    schema: core('EmptyDirVolumeSource'),
    prefix: 'volumes[v].emptyDir.',
    spec: (emptyDir) => ({ volumes: [{ name: 'v', emptyDir }] }),
  },
  {
    schema: core('PersistentVolumeClaimVolumeSource'),
    prefix: 'volumes[v].persistentVolumeClaim.',
    spec: (persistentVolumeClaim) => ({ volumes: [{ name: 'v', persistentVolumeClaim }] }),
  },
];

const FIELDS = PLACES.flatMap(({ schema, prefix, spec }) => {
  const honoured = new Set(HONOURED[nameOf(schema)]?.split(' '));
  return Object.entries(schema?.properties ?? {}).map(([field, of]) => ({
    path: prefix + field,
    isHonoured: honoured.has(field),
    spec: spec({ [field]: sampleOf(of) }),
  }));
});

describe('a field without an effect', () => {
  it.each(FIELDS.filter(({ isHonoured }) => !isHonoured))('is named: $path', ({ path, spec }) => {
    expect(ignored(spec)).toContain(path);
  });
});

describe('a field that somebody honours', () => {
  it.each(FIELDS.filter(({ isHonoured }) => isHonoured))('is not named: $path', (field) => {
    expect(ignored(field.spec)).not.toContain(field.path);
  });

  it('is one of the API', () => {
    for (const { schema } of PLACES) {
      const honoured = HONOURED[nameOf(schema)]?.split(' ') ?? [];
      expect(Object.keys(schema?.properties ?? {})).toEqual(expect.arrayContaining(honoured));
    }
  });

  it.each([
    ['hostUsers', { hostUsers: false }],
    ['dnsPolicy', { dnsPolicy: 'None' }],
    ['os.name', { os: { name: 'windows' } }],
  ])('is named with a value that asks for something else: %s', (path, spec) => {
    expect(ignored(spec)).toEqual([path]);
  });
});

function ignored(spec: JsonObject): readonly string[] {
  const containers = [{ name: 'a', image: 'i' }];
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: { containers, ...spec } };
  return ignoredFields((defaultPod(pod) as Pod).spec, false);
}

/** The name of a kind's schema, for example `Container`. */
function nameOf(schema: JsonSchema | undefined): string {
  return schema?.title?.split('.').at(-1) ?? '';
}

/** A value of that schema that asks for something. */
function sampleOf(schema: JsonSchema | undefined): unknown {
  const { type, properties, items, additionalProperties, required } = schema ?? {};
  if (schema?.enum !== undefined) return schema.enum.at(-2);
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return 1;
  if (type === 'array') return [sampleOf(items)];
  if (type !== 'object') return '1';
  if (typeof additionalProperties === 'object') return { a: sampleOf(additionalProperties) };
  const names = required ?? Object.keys(properties ?? {}).slice(0, 1);
  return Object.fromEntries(names.map((name) => [name, sampleOf(properties?.[name])]));
}
