/** Schemas of `core/v1 Pod`, complete as of Kubernetes 1.36. */
import {
  atomic,
  atomicList,
  boolean,
  defaulted,
  definitions,
  described,
  int32,
  int64,
  listMap,
  map,
  mergedBy,
  mergeMap,
  oneOf,
  string,
} from '../schema/builders.ts';
import { CONTAINER, EPHEMERAL_CONTAINER, RESOURCE_REQUIREMENTS } from './container-schema.ts';
import { kind, OBJECT_META, QUANTITY } from './meta-schema.ts';
import { POD_STATUS } from './pod-status-schema.ts';
import { LOCAL_OBJECT_REFERENCE } from './reference-schema.ts';
import {
  AFFINITY,
  POD_SCHEDULING_GATE,
  POD_SCHEDULING_GROUP,
  TOLERATION,
  TOPOLOGY_SPREAD_CONSTRAINT,
} from './scheduling-schema.ts';
import { POD_SECURITY_CONTEXT } from './security-schema.ts';
import { VOLUME } from './volume-schema.ts';

const core = definitions('io.k8s.api.core.v1');

const HOST_ALIAS = core(
  'HostAlias',
  { ip: string(), hostnames: atomicList(string()) },
  { required: ['ip'] },
);

const POD_DNS_CONFIG_OPTION = core('PodDNSConfigOption', { name: string(), value: string() });

const POD_DNS_CONFIG = core('PodDNSConfig', {
  nameservers: atomicList(string()),
  searches: atomicList(string()),
  options: atomicList(POD_DNS_CONFIG_OPTION),
});

const POD_OS = core('PodOS', { name: oneOf(['linux', 'windows']) }, { required: ['name'] });

const POD_READINESS_GATE = core(
  'PodReadinessGate',
  { conditionType: string() },
  { required: ['conditionType'] },
);

const POD_RESOURCE_CLAIM = core(
  'PodResourceClaim',
  {
    name: string(),
    resourceClaimName: string(),
    resourceClaimTemplateName: string(),
  },
  { required: ['name'] },
);

const POD_SPEC = core(
  'PodSpec',
  {
    volumes: mergedBy(
      'name',
      listMap(['name'], VOLUME, 'Directories that containers can mount.'),
      'merge,retainKeys',
    ),
    initContainers: mergeMap(
      ['name'],
      CONTAINER,
      'Containers that run one after the other before the others start. One with restartPolicy Always is a sidecar: it keeps running beside them.',
    ),
    containers: mergeMap(
      ['name'],
      CONTAINER,
      'The containers that do the work of the Pod. They start together.',
    ),
    ephemeralContainers: mergeMap(['name'], EPHEMERAL_CONTAINER),
    restartPolicy: oneOf(
      ['Always', 'Never', 'OnFailure'],
      'What happens when a container ends: Always, OnFailure or Never. A container can have a policy of its own.',
    ),
    terminationGracePeriodSeconds: int64(
      'Seconds between the request to stop and the kill. 30 by default.',
    ),
    activeDeadlineSeconds: int64('Seconds after its start at which the Pod is failed.'),
    dnsPolicy: oneOf(['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None']),
    nodeSelector: atomic(map(string(), 'Labels that a node must have.')),
    serviceAccountName: string('The account under which the Pod speaks to the API.'),
    serviceAccount: string(),
    automountServiceAccountToken: boolean('Whether containers find a token of the account.'),
    nodeName: string('The node that the Pod is bound to. The scheduler sets it.'),
    hostNetwork: boolean(),
    hostPID: boolean(),
    hostIPC: boolean(),
    shareProcessNamespace: boolean(),
    securityContext: POD_SECURITY_CONTEXT,
    imagePullSecrets: mergeMap(['name'], LOCAL_OBJECT_REFERENCE),
    hostname: string('The name of the host within the Pod; its own name by default.'),
    subdomain: string(
      'With the headless Service of this name, the Pod is reached as HOSTNAME.SUBDOMAIN.',
    ),
    affinity: described(
      'Which nodes, and which other Pods on them, are required or preferred.',
      AFFINITY,
    ),
    schedulerName: string(),
    tolerations: atomicList(TOLERATION, 'Taints of nodes that the Pod accepts.'),
    hostAliases: mergeMap(['ip'], HOST_ALIAS),
    priorityClassName: string(),
    priority: int32(),
    dnsConfig: POD_DNS_CONFIG,
    readinessGates: atomicList(POD_READINESS_GATE),
    runtimeClassName: string(),
    enableServiceLinks: boolean(),
    preemptionPolicy: oneOf(['Never', 'PreemptLowerPriority']),
    overhead: map(QUANTITY),
    topologySpreadConstraints: mergeMap(
      ['topologyKey', 'whenUnsatisfiable'],
      TOPOLOGY_SPREAD_CONSTRAINT,
      'How evenly Pods of a kind are spread over parts of the cluster.',
    ),
    setHostnameAsFQDN: boolean(),
    os: POD_OS,
    hostUsers: boolean(),
    schedulingGates: mergeMap(
      ['name'],
      POD_SCHEDULING_GATE,
      'The Pod waits, unscheduled, until the list is empty.',
    ),
    resourceClaims: mergedBy('name', listMap(['name'], POD_RESOURCE_CLAIM), 'merge,retainKeys'),
    resources: RESOURCE_REQUIREMENTS,
    hostnameOverride: string(),
    schedulingGroup: described(
      'The group that is scheduled as a whole, of which the Pod is a member.',
      POD_SCHEDULING_GROUP,
    ),
  },
  { required: ['containers'] },
);

export const POD_TEMPLATE_SPEC = core('PodTemplateSpec', {
  metadata: OBJECT_META,
  spec: defaulted({}, POD_SPEC),
});

export const POD = kind(
  core(
    'Pod',
    { spec: defaulted({}, POD_SPEC), status: POD_STATUS },
    {
      description:
        'A group of containers that run together on one node and share an address and volumes.',
    },
  ),
);
