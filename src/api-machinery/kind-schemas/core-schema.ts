/** Schemas of the small kinds: Namespace, ConfigMap, Secret, ServiceAccount, Binding, Eviction. */

import { DELETE_OPTIONS, kind } from '../../kube/pod-schema/meta-schema.ts';
import {
  LOCAL_OBJECT_REFERENCE,
  OBJECT_REFERENCE,
} from '../../kube/pod-schema/reference-schema.ts';
import {
  atomicList,
  boolean,
  bytes,
  definitions,
  map,
  mergeMap,
  string,
  time,
} from '../../kube/schema/builders.ts';

const core = definitions('io.k8s.api.core.v1');
const policy = definitions('io.k8s.api.policy.v1');

const NAMESPACE_SPEC = core('NamespaceSpec', { finalizers: atomicList(string()) });

const NAMESPACE_CONDITION = core(
  'NamespaceCondition',
  {
    type: string(),
    status: string(),
    lastTransitionTime: time(),
    reason: string(),
    message: string(),
  },
  { required: ['type', 'status'] },
);

const NAMESPACE_STATUS = core('NamespaceStatus', {
  phase: string(),
  conditions: mergeMap(['type'], NAMESPACE_CONDITION),
});

export const NAMESPACE = kind(
  core(
    'Namespace',
    { spec: NAMESPACE_SPEC, status: NAMESPACE_STATUS },
    { description: 'A space of names for objects.' },
  ),
);

export const CONFIG_MAP = kind(
  core(
    'ConfigMap',
    {
      immutable: boolean(),
      data: map(string()),
      binaryData: map(bytes()),
    },
    { description: 'Configuration for Pods.' },
  ),
);

export const SECRET = kind(
  core(
    'Secret',
    {
      immutable: boolean(),
      data: map(bytes()),
      stringData: map(string()),
      type: string(),
    },
    { description: 'Confidential data for Pods, in base64.' },
  ),
);

export const SERVICE_ACCOUNT = kind(
  core(
    'ServiceAccount',
    {
      secrets: mergeMap(['name'], OBJECT_REFERENCE),
      imagePullSecrets: atomicList(LOCAL_OBJECT_REFERENCE),
      automountServiceAccountToken: boolean(),
    },
    { description: 'An identity under which Pods speak to the API.' },
  ),
);

export const BINDING = kind(
  core('Binding', { target: OBJECT_REFERENCE }, { required: ['target'] }),
);

export const EVICTION = kind(policy('Eviction', { deleteOptions: DELETE_OPTIONS }));
