/** Validates containers of Pods: regular ones, init containers, sidecars and ephemeral ones. */
import {
  duplicate,
  forbiddenField,
  invalidValue,
  required,
  unknownValueErrors,
  valueNotFound,
} from '@lockstep/kube/field-error.ts';
import { dns1123LabelErrors, portNameErrors, portNumberErrors } from '@lockstep/kube/name-rules.ts';
import type {
  Container,
  ContainerPort,
  EphemeralContainer,
  PodSpec,
} from '@lockstep/kube/objects/pod.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { environmentErrors } from './environment.ts';
import { forbiddenHookErrors, hookErrors } from './probe.ts';
import { resourcesErrors } from './resource-amounts.ts';
import { restartPolicyErrors } from './restart-policy.ts';
import { containerSecurityErrors } from './security-context.ts';
import { mountsErrors } from './volume.ts';
import { devicesErrors } from './volume-device.ts';

/** Problems of all containers of a Pod whose spec is at `path`. */
export function containersErrors(spec: PodSpec, path: string): FieldError[] {
  const { containers, initContainers = [] } = spec;
  const errors: FieldError[] = [];
  if (containers.length === 0) errors.push(required(`${path}.containers`));
  const names = new Set<string>();
  const visit = (container: Container, containerPath: string): void => {
    errors.push(...commonErrors(container, spec, containerPath));
    if (names.has(container.name)) {
      errors.push(duplicate(`${containerPath}.name`, container.name));
    }
    if (container.name !== '') names.add(container.name);
  };
  containers.forEach((container, index) => {
    const containerPath = `${path}.containers[${index}]`;
    visit(container, containerPath);
    errors.push(...restartPolicyErrors(container, containerPath));
    errors.push(...hookErrors(container, containerPath, spec.terminationGracePeriodSeconds));
  });
  initContainers.forEach((container, index) => {
    const containerPath = `${path}.initContainers[${index}]`;
    visit(container, containerPath);
    errors.push(...restartPolicyErrors(container, containerPath));
    const isSidecar = container.restartPolicy === 'Always';
    errors.push(
      ...(isSidecar
        ? hookErrors(container, containerPath, spec.terminationGracePeriodSeconds)
        : forbiddenHookErrors(container, containerPath)),
    );
  });
  (spec.ephemeralContainers ?? []).forEach((container, index) => {
    const containerPath = `${path}.ephemeralContainers[${index}]`;
    visit(container, containerPath);
    errors.push(...ephemeralErrors(container, spec, containerPath));
  });
  errors.push(...hostPortConflicts(containers, `${path}.containers`));
  return errors;
}

function commonErrors(container: Container, spec: PodSpec, path: string): FieldError[] {
  const { name, image = '', imagePullPolicy, ports = [], resources = {} } = container;
  return [
    ...(name === ''
      ? [required(`${path}.name`)]
      : dns1123LabelErrors(name).map((text) => invalidValue(`${path}.name`, name, text))),
    ...(image === '' ? [required(`${path}.image`)] : []),
    ...imageSpaceErrors(image, path),
    ...unknownValueErrors(
      `${path}.terminationMessagePolicy`,
      container.terminationMessagePolicy,
      MESSAGE_POLICIES,
    ),
    ...portsErrors(ports, `${path}.ports`),
    ...environmentErrors(container, path),
    ...mountsErrors(container, spec.volumes ?? [], path),
    ...devicesErrors(container, spec.volumes ?? [], `${path}.volumeDevices`),
    ...unknownValueErrors(`${path}.imagePullPolicy`, imagePullPolicy, PULL_POLICIES),
    ...resourcesErrors(
      resources,
      `${path}.resources`,
      (spec.resourceClaims ?? []).map((claim) => claim.name),
    ),
    ...resizePolicyErrors(container, spec, `${path}.resizePolicy`),
    ...containerSecurityErrors(container.securityContext, `${path}.securityContext`),
  ];
}

/** In the order of the API's type. */
const NOT_FOR_EPHEMERAL = [
  'ports',
  'resources',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;

/**
 * An ephemeral container inspects a running Pod, so it must not have fields that affect the Pod.
 */
function ephemeralErrors(container: EphemeralContainer, spec: PodSpec, path: string): FieldError[] {
  const { targetContainerName: target = '', volumeMounts = [] } = container;
  const others = [...spec.containers, ...(spec.initContainers ?? [])];
  const isUnknown = target !== '' && !others.some(({ name }) => name === target);
  const detail = 'cannot be set for an Ephemeral Container';
  return [
    ...(isUnknown ? [valueNotFound(`${path}.targetContainerName`, target)] : []),
    ...NOT_FOR_EPHEMERAL.filter((field) => isSet(container[field])).map((field) =>
      forbiddenField(`${path}.${field}`, detail),
    ),
    ...volumeMounts.flatMap((mount, index) =>
      (['subPath', 'subPathExpr'] as const)
        .filter((field) => (mount[field] ?? '') !== '')
        .map((field) => forbiddenField(`${path}.volumeMounts[${index}].${field}`, detail)),
    ),
  ];
}

/** Defaults add empty resources, so those count as not set. */
function isSet(value: EphemeralContainer[(typeof NOT_FOR_EPHEMERAL)[number]]): boolean {
  if (typeof value !== 'object') return value !== undefined;
  return Object.keys(value).length > 0;
}

const PULL_POLICIES: readonly string[] = ['Always', 'IfNotPresent', 'Never'];
const MESSAGE_POLICIES: readonly string[] = ['File', 'FallbackToLogsOnError'];
const RESIZED_RESOURCES: readonly string[] = ['cpu', 'memory'];
const RESIZE_POLICIES: readonly string[] = ['NotRequired', 'RestartContainer'];

function resizePolicyErrors(
  { resizePolicy = [] }: Container,
  { restartPolicy: ofPod }: PodSpec,
  path: string,
): FieldError[] {
  const names = resizePolicy.map(({ resourceName }) => resourceName);
  const detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
  return resizePolicy.flatMap(({ resourceName, restartPolicy }, index) => [
    ...(names.indexOf(resourceName) < index ? [duplicate(`${path}[${index}]`, resourceName)] : []),
    ...unknownValueErrors(path, resourceName, RESIZED_RESOURCES),
    ...unknownValueErrors(path, restartPolicy, RESIZE_POLICIES),
    ...(ofPod === 'Never' && restartPolicy !== 'NotRequired'
      ? [invalidValue(path, restartPolicy, detail)]
      : []),
  ]);
}

function imageSpaceErrors(image: string, path: string): FieldError[] {
  if (image.trim() === image) return [];
  return [invalidValue(`${path}.image`, image, 'must not have leading or trailing whitespace')];
}

function portsErrors(ports: readonly ContainerPort[], path: string): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const { name = '', containerPort, hostPort = 0 } = port;
    const portPath = `${path}[${index}]`;
    const errors: FieldError[] =
      name === ''
        ? []
        : portNameErrors(name).map((text) => invalidValue(`${portPath}.name`, name, text));
    if (name !== '' && names.has(name)) errors.push(duplicate(`${portPath}.name`, name));
    names.add(name);
    if (containerPort === 0) errors.push(required(`${portPath}.containerPort`));
    else {
      for (const text of portNumberErrors(containerPort)) {
        errors.push(invalidValue(`${portPath}.containerPort`, containerPort, text));
      }
    }
    for (const text of hostPort === 0 ? [] : portNumberErrors(hostPort)) {
      errors.push(invalidValue(`${portPath}.hostPort`, hostPort, text));
    }
    return errors;
  });
}

/** Containers of one Pod share the ports of their host. */
function hostPortConflicts(containers: readonly Container[], path: string): FieldError[] {
  const taken = new Set<string>();
  return containers.flatMap((container, containerIndex) =>
    (container.ports ?? []).flatMap(({ hostPort = 0, hostIP = '', protocol = '' }, portIndex) => {
      const key = `${protocol}/${hostIP}/${hostPort}`;
      const isTaken = hostPort !== 0 && taken.has(key);
      taken.add(key);
      const field = `${path}[${containerIndex}].ports[${portIndex}].hostPort`;
      return isTaken ? [duplicate(field, key)] : [];
    }),
  );
}
