/** Schemas of `core/v1 PodStatus` and its parts. */
import {
  atomicList,
  boolean,
  defaulted,
  definitions,
  int32,
  int64,
  listMap,
  map,
  mergedBy,
  mergeMap,
  nullable,
  oneOf,
  set,
  string,
  time,
} from '../schema/builders.ts';
import { RESOURCE_REQUIREMENTS } from './container-schema.ts';
import { QUANTITY } from './meta-schema.ts';

const core = definitions('io.k8s.api.core.v1');

const CONTAINER_STATE_WAITING = core('ContainerStateWaiting', {
  reason: string(),
  message: string(),
});

const CONTAINER_STATE_RUNNING = core('ContainerStateRunning', { startedAt: time() });

const CONTAINER_STATE_TERMINATED = core(
  'ContainerStateTerminated',
  {
    exitCode: defaulted(0, int32()),
    signal: int32(),
    reason: string(),
    message: string(),
    startedAt: time(),
    finishedAt: time(),
    containerID: string(),
  },
  { required: ['exitCode'] },
);

const CONTAINER_STATE = core('ContainerState', {
  waiting: CONTAINER_STATE_WAITING,
  running: CONTAINER_STATE_RUNNING,
  terminated: CONTAINER_STATE_TERMINATED,
});

const LINUX_CONTAINER_USER = core(
  'LinuxContainerUser',
  {
    uid: int64(),
    gid: int64(),
    supplementalGroups: atomicList(int64()),
  },
  { required: ['uid', 'gid'] },
);

const CONTAINER_USER = core('ContainerUser', { linux: LINUX_CONTAINER_USER });

const RESOURCE_HEALTH = core(
  'ResourceHealth',
  { resourceID: string(), health: string(), message: string() },
  { required: ['resourceID'] },
);

const RESOURCE_STATUS = core(
  'ResourceStatus',
  {
    name: string(),
    resources: listMap(['resourceID'], RESOURCE_HEALTH),
  },
  { required: ['name'] },
);

const IMAGE_VOLUME_STATUS = core(
  'ImageVolumeStatus',
  { imageRef: string() },
  { required: ['imageRef'] },
);

const VOLUME_STATUS = core('VolumeStatus', { image: IMAGE_VOLUME_STATUS });

const VOLUME_MOUNT_STATUS = core(
  'VolumeMountStatus',
  {
    name: string(),
    mountPath: string(),
    readOnly: boolean(),
    recursiveReadOnly: string(),
    volumeStatus: VOLUME_STATUS,
  },
  { required: ['name', 'mountPath'] },
);

const CONTAINER_STATUS = core(
  'ContainerStatus',
  {
    name: string(),
    state: CONTAINER_STATE,
    lastState: CONTAINER_STATE,
    ready: defaulted(false, boolean()),
    restartCount: defaulted(0, int32()),
    image: defaulted('', string()),
    imageID: defaulted('', string()),
    containerID: string(),
    started: boolean(),
    allocatedResources: map(QUANTITY),
    resources: RESOURCE_REQUIREMENTS,
    volumeMounts: mergeMap(['mountPath'], VOLUME_MOUNT_STATUS),
    user: CONTAINER_USER,
    allocatedResourcesStatus: mergeMap(['name'], RESOURCE_STATUS),
    stopSignal: string(),
  },
  { required: ['name', 'ready', 'restartCount', 'image', 'imageID'] },
);

const POD_CONDITION = core(
  'PodCondition',
  {
    type: string(),
    observedGeneration: int64(),
    status: string(),
    lastProbeTime: nullable(time()),
    lastTransitionTime: time(),
    reason: string(),
    message: string(),
  },
  { required: ['type', 'status'] },
);

const POD_IP = core('PodIP', { ip: string() }, { required: ['ip'] });

const HOST_IP = core('HostIP', { ip: string() }, { required: ['ip'] });

const POD_RESOURCE_CLAIM_STATUS = core(
  'PodResourceClaimStatus',
  { name: string(), resourceClaimName: string() },
  { required: ['name'] },
);

const CONTAINER_EXTENDED_RESOURCE_REQUEST = core(
  'ContainerExtendedResourceRequest',
  {
    containerName: string(),
    resourceName: string(),
    requestName: string(),
  },
  { required: ['containerName', 'resourceName', 'requestName'] },
);

const POD_EXTENDED_RESOURCE_CLAIM_STATUS = core(
  'PodExtendedResourceClaimStatus',
  {
    requestMappings: atomicList(CONTAINER_EXTENDED_RESOURCE_REQUEST),
    resourceClaimName: string(),
  },
  { required: ['requestMappings', 'resourceClaimName'] },
);

const NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS = core(
  'NodeAllocatableResourceClaimStatus',
  {
    resourceClaimName: string(),
    containers: set(string()),
    resources: map(QUANTITY),
  },
  { required: ['resourceClaimName', 'resources'] },
);

export const POD_STATUS = core('PodStatus', {
  observedGeneration: int64(),
  phase: oneOf(['Failed', 'Pending', 'Running', 'Succeeded', 'Unknown']),
  conditions: mergeMap(['type'], POD_CONDITION),
  message: string(),
  reason: string(),
  nominatedNodeName: string(),
  hostIP: string(),
  hostIPs: mergedBy('ip', atomicList(HOST_IP)),
  podIP: string(),
  podIPs: mergeMap(['ip'], POD_IP),
  startTime: time(),
  initContainerStatuses: atomicList(CONTAINER_STATUS),
  containerStatuses: atomicList(CONTAINER_STATUS),
  qosClass: string(),
  ephemeralContainerStatuses: atomicList(CONTAINER_STATUS),
  resize: string(),
  resourceClaimStatuses: mergedBy(
    'name',
    listMap(['name'], POD_RESOURCE_CLAIM_STATUS),
    'merge,retainKeys',
  ),
  extendedResourceClaimStatus: POD_EXTENDED_RESOURCE_CLAIM_STATUS,
  allocatedResources: map(QUANTITY),
  resources: RESOURCE_REQUIREMENTS,
  nodeAllocatableResourceClaimStatuses: atomicList(NODE_ALLOCATABLE_RESOURCE_CLAIM_STATUS),
});
