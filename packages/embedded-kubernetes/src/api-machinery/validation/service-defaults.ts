/** Defaults of `core/v1 Service`. */
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { withDefaults, withItems, withMember } from './members.ts';

export function defaultService<T extends JsonObject>(service: T): T {
  const filled = withMember(service, 'spec', (spec) => {
    const typed = withDefaults(spec, { type: 'ClusterIP', sessionAffinity: 'None' });
    const ported = withItems(typed, 'ports', defaultPort);
    return withDefaults(defaultAffinity(ported), trafficDefaults(ported));
  });
  return withDefaults(filled, { status: { loadBalancer: {} } });
}

const CLIENT_IP_AFFINITY_SECONDS = 10_800;

function defaultPort(port: JsonObject): JsonObject {
  const filled = withDefaults(port, { protocol: 'TCP' });
  const { targetPort } = filled;
  const isOpen = targetPort === undefined || targetPort === 0 || targetPort === '';
  return isOpen ? { ...filled, targetPort: filled['port'] } : filled;
}

function defaultAffinity(spec: JsonObject): JsonObject {
  if (spec['sessionAffinity'] === 'None') {
    const { sessionAffinityConfig: _meaningless, ...rest } = spec;
    return rest;
  }
  if (spec['sessionAffinity'] !== 'ClientIP') return spec;
  const config = spec['sessionAffinityConfig'];
  const clientIP = isJsonObject(config) ? config['clientIP'] : undefined;
  const isGiven = isJsonObject(clientIP) && clientIP['timeoutSeconds'] !== undefined;
  if (isGiven) return spec;
  const timeoutSeconds = CLIENT_IP_AFFINITY_SECONDS;
  return { ...spec, sessionAffinityConfig: { clientIP: { timeoutSeconds } } };
}

function trafficDefaults(spec: JsonObject): JsonObject {
  const { type, externalIPs } = spec;
  const isReachedFromOutside =
    type === 'LoadBalancer' ||
    type === 'NodePort' ||
    (type === 'ClusterIP' && Array.isArray(externalIPs) && externalIPs.length > 0);
  return {
    ...(type === 'ExternalName' ? {} : { internalTrafficPolicy: 'Cluster' }),
    ...(isReachedFromOutside ? { externalTrafficPolicy: 'Cluster' } : {}),
    ...(type === 'LoadBalancer' ? { allocateLoadBalancerNodePorts: true } : {}),
  };
}
