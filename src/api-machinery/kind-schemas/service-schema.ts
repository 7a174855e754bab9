/** Schemas of `core/v1 Service` and `discovery.k8s.io/v1 EndpointSlice`. */

import { CONDITION, kind } from '../../kube/pod-schema/meta-schema.ts';
import { OBJECT_REFERENCE } from '../../kube/pod-schema/reference-schema.ts';
import {
  atomic,
  atomicList,
  boolean,
  defaulted,
  definitions,
  int32,
  intOrString,
  map,
  mergeMap,
  oneOf,
  set,
  string,
} from '../../kube/schema/builders.ts';

const core = definitions('io.k8s.api.core.v1');
const discovery = definitions('io.k8s.api.discovery.v1');

const SERVICE_PORT = core(
  'ServicePort',
  {
    name: string(),
    protocol: defaulted('TCP', oneOf(['SCTP', 'TCP', 'UDP'])),
    appProtocol: string(),
    port: int32(),
    targetPort: intOrString(),
    nodePort: int32(),
  },
  { required: ['port'] },
);

const CLIENT_IP_CONFIG = core('ClientIPConfig', { timeoutSeconds: int32() });

const SESSION_AFFINITY_CONFIG = core('SessionAffinityConfig', { clientIP: CLIENT_IP_CONFIG });

const SERVICE_SPEC = core('ServiceSpec', {
  ports: mergeMap(['port', 'protocol'], SERVICE_PORT),
  selector: atomic(map(string())),
  clusterIP: string(),
  clusterIPs: atomicList(string()),
  type: oneOf(['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']),
  externalIPs: atomicList(string()),
  sessionAffinity: oneOf(['ClientIP', 'None']),
  loadBalancerIP: string(),
  loadBalancerSourceRanges: atomicList(string()),
  externalName: string(),
  externalTrafficPolicy: oneOf(['Cluster', 'Local']),
  healthCheckNodePort: int32(),
  publishNotReadyAddresses: boolean(),
  sessionAffinityConfig: SESSION_AFFINITY_CONFIG,
  ipFamilies: atomicList(oneOf(['IPv4', 'IPv6'])),
  ipFamilyPolicy: oneOf(['PreferDualStack', 'RequireDualStack', 'SingleStack']),
  allocateLoadBalancerNodePorts: boolean(),
  loadBalancerClass: string(),
  internalTrafficPolicy: oneOf(['Cluster', 'Local']),
  trafficDistribution: string(),
});

const PORT_STATUS = core(
  'PortStatus',
  { port: int32(), protocol: string(), error: string() },
  { required: ['port', 'protocol'] },
);

const LOAD_BALANCER_INGRESS = core('LoadBalancerIngress', {
  ip: string(),
  hostname: string(),
  ipMode: string(),
  ports: atomicList(PORT_STATUS),
});

const LOAD_BALANCER_STATUS = core('LoadBalancerStatus', {
  ingress: atomicList(LOAD_BALANCER_INGRESS),
});

const SERVICE_STATUS = core('ServiceStatus', {
  loadBalancer: LOAD_BALANCER_STATUS,
  conditions: mergeMap(['type'], CONDITION),
});

export const SERVICE = kind(
  core(
    'Service',
    { spec: defaulted({}, SERVICE_SPEC), status: SERVICE_STATUS },
    { description: 'A name, and where wanted an address, for a group of Pods.' },
  ),
);

const ENDPOINT_CONDITIONS = discovery('EndpointConditions', {
  ready: boolean(),
  serving: boolean(),
  terminating: boolean(),
});

const FOR_ZONE = discovery('ForZone', { name: string() }, { required: ['name'] });

const FOR_NODE = discovery('ForNode', { name: string() }, { required: ['name'] });

const ENDPOINT_HINTS = discovery('EndpointHints', {
  forZones: atomicList(FOR_ZONE),
  forNodes: atomicList(FOR_NODE),
});

const ENDPOINT = discovery(
  'Endpoint',
  {
    addresses: set(string()),
    conditions: ENDPOINT_CONDITIONS,
    hostname: string(),
    targetRef: OBJECT_REFERENCE,
    deprecatedTopology: map(string()),
    nodeName: string(),
    zone: string(),
    hints: ENDPOINT_HINTS,
  },
  { required: ['addresses'] },
);

const ENDPOINT_PORT = atomic(
  discovery('EndpointPort', {
    name: string(),
    protocol: oneOf(['SCTP', 'TCP', 'UDP']),
    port: int32(),
    appProtocol: string(),
  }),
);

export const ENDPOINT_SLICE = kind(
  discovery(
    'EndpointSlice',
    {
      addressType: oneOf(['FQDN', 'IPv4', 'IPv6']),
      endpoints: atomicList(ENDPOINT),
      ports: atomicList(ENDPOINT_PORT),
    },
    { required: ['addressType'] },
  ),
);
