/**
 * Defaults of `core/v1 Pod` and Pod templates that depend on more than one field, or that only a
 * server of built-in kinds fills in. A JobSet shows its template as the user wrote it.
 */
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { withDefaults, withItems, withMember } from '../members.ts';
import { canonicalResources } from './resource-amounts.ts';

/**
 * Fills in a whole Pod. Only here, not in templates, requests follow from limits and a negative
 * grace period becomes 1.
 */
export function defaultPod<T extends JsonObject>(pod: T): T {
  return withMember(pod, 'spec', (spec) => {
    const filled = withDefaults(defaultPodSpec(spec), { enableServiceLinks: true });
    return eachContainer(withGrace(filled), (container) =>
      hostPorts(requestLimits(container), filled['hostNetwork'] === true),
    );
  });
}

/** Fills in a PodTemplateSpec, as Jobs hold it. */
export function defaultPodTemplate<T extends JsonObject>(template: T): T {
  return withMember(template, 'spec', defaultPodSpec);
}

const TERMINATION_GRACE_PERIOD_SECONDS = 30;
/** The value that replaces a negative grace period, as in Kubernetes. */
const LEAST_GRACE_PERIOD_SECONDS = 1;
/** Octal 0644. */
const FILE_MODE = 0o644;
const TOKEN_EXPIRATION_SECONDS = 3600;

function defaultPodSpec(spec: JsonObject): JsonObject {
  const filled = withDefaults(spec, {
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    securityContext: {},
    terminationGracePeriodSeconds: TERMINATION_GRACE_PERIOD_SECONDS,
    schedulerName: 'default-scheduler',
  });
  const withOverhead = withMember(filled, 'resources', canonicalResources);
  return eachContainer(withItems(withOverhead, 'volumes', defaultVolume), defaultContainer);
}

function withGrace(spec: JsonObject): JsonObject {
  const { terminationGracePeriodSeconds: seconds } = spec;
  const isNegative = typeof seconds === 'number' && seconds < 0;
  return isNegative ? { ...spec, terminationGracePeriodSeconds: LEAST_GRACE_PERIOD_SECONDS } : spec;
}

function eachContainer(
  spec: JsonObject,
  change: (container: JsonObject) => JsonObject,
): JsonObject {
  return ['containers', 'initContainers', 'ephemeralContainers'].reduce(
    (changed, list) => withItems(changed, list, change),
    spec,
  );
}

function defaultContainer(container: JsonObject): JsonObject {
  const filled = withDefaults(container, {
    imagePullPolicy: defaultPullPolicy(container['image']),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    resources: {},
  });
  const probed = ['livenessProbe', 'readinessProbe', 'startupProbe'].reduce(
    (changed, probe) => withMember(changed, probe, defaultProbe),
    filled,
  );
  const handled = withMember(probed, 'lifecycle', (lifecycle) =>
    withMember(withMember(lifecycle, 'postStart', defaultHandler), 'preStop', defaultHandler),
  );
  const sourced = withItems(handled, 'env', (variable) =>
    withMember(variable, 'valueFrom', defaultFieldReference),
  );
  const ruled = withItems(sourced, 'restartPolicyRules', defaultRestartRule);
  // The schema fills it in where it is missing, and clients may send an empty text.
  const ported = withItems(ruled, 'ports', (port) => withDefaults(port, { protocol: 'TCP' }));
  return withMember(ported, 'resources', canonicalResources);
}

/** Fills missing members with empty texts, which a server in Go reads and refuses. */
function defaultRestartRule(rule: JsonObject): JsonObject {
  return withMember(withDefaults(rule, { action: '' }), 'exitCodes', (exitCodes) =>
    withDefaults(exitCodes, { operator: '' }),
  );
}

/** An image without a tag, or with the tag `latest`, is always pulled. */
function defaultPullPolicy(image: unknown): string {
  if (typeof image !== 'string' || !/^[^\s@]+$/.test(image)) return 'IfNotPresent';
  const name = image.slice(image.lastIndexOf('/') + 1);
  const tag = name.includes(':') ? name.slice(name.lastIndexOf(':') + 1) : 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

function defaultProbe(probe: JsonObject): JsonObject {
  return defaultHandler({
    ...probe,
    // Go clients send zero for a field that was not set.
    timeoutSeconds: probe['timeoutSeconds'] || 1,
    periodSeconds: probe['periodSeconds'] || 10,
    successThreshold: probe['successThreshold'] || 1,
    failureThreshold: probe['failureThreshold'] || 3,
  });
}

function defaultHandler(handler: JsonObject): JsonObject {
  const filled = withMember(handler, 'httpGet', (action) =>
    withDefaults(action, { path: '/', scheme: 'HTTP' }),
  );
  return withMember(filled, 'grpc', (action) =>
    action['service'] === undefined ? { ...action, service: '' } : action,
  );
}

function defaultFieldReference(source: JsonObject): JsonObject {
  const withVersion = withMember(source, 'fieldRef', (reference) =>
    withDefaults(reference, { apiVersion: 'v1' }),
  );
  return withMember(withVersion, 'resourceFieldRef', (reference) =>
    withDefaults(reference, { divisor: '0' }),
  );
}

function defaultVolume(volume: JsonObject): JsonObject {
  const hasSource = Object.keys(volume).some((member) => member !== 'name');
  const sourced = hasSource ? volume : { ...volume, emptyDir: {} };
  const withModes = ['secret', 'configMap', 'downwardAPI', 'projected'].reduce(
    (changed, source) =>
      withMember(changed, source, (member) => withDefaults(member, { defaultMode: FILE_MODE })),
    sourced,
  );
  const withFields = withMember(withModes, 'downwardAPI', defaultDownwardFiles);
  const projected = withMember(withFields, 'projected', (member) =>
    withItems(member, 'sources', defaultProjection),
  );
  // An empty type is the default for host paths: nothing is checked before the mount.
  return withMember(projected, 'hostPath', (member) =>
    member['type'] === undefined ? { ...member, type: '' } : member,
  );
}

function defaultProjection(source: JsonObject): JsonObject {
  const tokens = withMember(source, 'serviceAccountToken', (token) =>
    withDefaults(token, { expirationSeconds: TOKEN_EXPIRATION_SECONDS }),
  );
  return withMember(tokens, 'downwardAPI', defaultDownwardFiles);
}

function defaultDownwardFiles(source: JsonObject): JsonObject {
  return withItems(source, 'items', defaultFieldReference);
}

function requestLimits(container: JsonObject): JsonObject {
  return withMember(container, 'resources', (resources) => {
    const { limits, requests } = resources;
    if (!isJsonObject(limits)) return resources;
    return { ...resources, requests: { ...limits, ...(isJsonObject(requests) ? requests : {}) } };
  });
}

function hostPorts(container: JsonObject, isHostNetwork: boolean): JsonObject {
  if (!isHostNetwork) return container;
  return withItems(container, 'ports', (port) => ({
    ...port,
    hostPort: port['hostPort'] || port['containerPort'],
  }));
}
