/** Schemas of `core/v1 Node`. */

import { kind, QUANTITY } from '../../kube/pod-schema/meta-schema.ts';
import {
  atomicList,
  boolean,
  defaulted,
  definitions,
  int32,
  int64,
  map,
  merged,
  mergeMap,
  oneOf,
  set,
  string,
  time,
} from '../../kube/schema/builders.ts';

const core = definitions('io.k8s.api.core.v1');

const TAINT = core(
  'Taint',
  {
    key: string(),
    value: string(),
    effect: oneOf(['NoExecute', 'NoSchedule', 'PreferNoSchedule']),
    timeAdded: time(),
  },
  { required: ['key', 'effect'] },
);

const CONFIG_MAP_NODE_CONFIG_SOURCE = core(
  'ConfigMapNodeConfigSource',
  {
    namespace: string(),
    name: string(),
    uid: string(),
    resourceVersion: string(),
    kubeletConfigKey: string(),
  },
  { required: ['namespace', 'name', 'kubeletConfigKey'] },
);

const NODE_CONFIG_SOURCE = core('NodeConfigSource', { configMap: CONFIG_MAP_NODE_CONFIG_SOURCE });

const NODE_SPEC = core('NodeSpec', {
  podCIDR: string(),
  podCIDRs: merged(set(string())),
  providerID: string(),
  unschedulable: boolean(),
  taints: atomicList(TAINT),
  configSource: NODE_CONFIG_SOURCE,
  externalID: string(),
});

const NODE_CONDITION = core(
  'NodeCondition',
  {
    type: string(),
    status: string(),
    lastHeartbeatTime: time(),
    lastTransitionTime: time(),
    reason: string(),
    message: string(),
  },
  { required: ['type', 'status'] },
);

const NODE_ADDRESS = core(
  'NodeAddress',
  { type: string(), address: string() },
  { required: ['type', 'address'] },
);

const DAEMON_ENDPOINT = core(
  'DaemonEndpoint',
  { Port: defaulted(0, int32()) },
  { required: ['Port'] },
);

const NODE_DAEMON_ENDPOINTS = core('NodeDaemonEndpoints', { kubeletEndpoint: DAEMON_ENDPOINT });

const NODE_SWAP_STATUS = core('NodeSwapStatus', { capacity: int64() });

const NODE_SYSTEM_INFO = core(
  'NodeSystemInfo',
  {
    machineID: defaulted('', string()),
    systemUUID: defaulted('', string()),
    bootID: defaulted('', string()),
    kernelVersion: defaulted('', string()),
    osImage: defaulted('', string()),
    containerRuntimeVersion: defaulted('', string()),
    kubeletVersion: defaulted('', string()),
    kubeProxyVersion: defaulted('', string()),
    operatingSystem: defaulted('', string()),
    architecture: defaulted('', string()),
    swap: NODE_SWAP_STATUS,
  },
  {
    required: [
      'machineID',
      'systemUUID',
      'bootID',
      'kernelVersion',
      'osImage',
      'containerRuntimeVersion',
      'kubeletVersion',
      'kubeProxyVersion',
      'operatingSystem',
      'architecture',
    ],
  },
);

const CONTAINER_IMAGE = core('ContainerImage', { names: atomicList(string()), sizeBytes: int64() });

const ATTACHED_VOLUME = core(
  'AttachedVolume',
  { name: string(), devicePath: string() },
  { required: ['name', 'devicePath'] },
);

const NODE_CONFIG_STATUS = core('NodeConfigStatus', {
  assigned: NODE_CONFIG_SOURCE,
  active: NODE_CONFIG_SOURCE,
  lastKnownGood: NODE_CONFIG_SOURCE,
  error: string(),
});

const NODE_RUNTIME_HANDLER_FEATURES = core('NodeRuntimeHandlerFeatures', {
  recursiveReadOnlyMounts: boolean(),
  userNamespaces: boolean(),
});

const NODE_RUNTIME_HANDLER = core('NodeRuntimeHandler', {
  name: string(),
  features: NODE_RUNTIME_HANDLER_FEATURES,
});

const NODE_FEATURES = core('NodeFeatures', { supplementalGroupsPolicy: boolean() });

const NODE_STATUS = core('NodeStatus', {
  capacity: map(QUANTITY),
  allocatable: map(QUANTITY),
  phase: string(),
  conditions: mergeMap(['type'], NODE_CONDITION),
  addresses: mergeMap(['type'], NODE_ADDRESS),
  daemonEndpoints: NODE_DAEMON_ENDPOINTS,
  nodeInfo: NODE_SYSTEM_INFO,
  images: atomicList(CONTAINER_IMAGE),
  volumesInUse: atomicList(string()),
  volumesAttached: atomicList(ATTACHED_VOLUME),
  config: NODE_CONFIG_STATUS,
  runtimeHandlers: atomicList(NODE_RUNTIME_HANDLER),
  features: NODE_FEATURES,
  declaredFeatures: atomicList(string()),
});

export const NODE = kind(
  core(
    'Node',
    { spec: NODE_SPEC, status: NODE_STATUS },
    { description: 'A machine that runs Pods.' },
  ),
);
