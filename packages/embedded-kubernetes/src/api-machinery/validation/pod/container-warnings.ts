/**
 * Warnings for containers that are valid but probably wrong: duplicate variables and ports,
 * fractions of bytes.
 */
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { Container, ContainerPort, EnvVar, PodSpec } from '@lockstep/kube/objects/pod.ts';
import { parseQuantity } from '@lockstep/kube/quantity.ts';
import { quote } from '@lockstep/kube/quote.ts';

interface PlacedContainer {
  readonly container: Container;
  readonly path: string;
}

/** Warnings about each container alone. `prefix` is the path of the Pod's spec and metadata. */
export function containerWarnings(
  spec: PodSpec,
  annotations: StringMap,
  prefix: string,
): readonly string[] {
  return placed(spec, `${prefix}spec`).flatMap(({ container, path }) => {
    const { limits, requests } = container.resources ?? {};
    const key = `container.seccomp.security.alpha.kubernetes.io/${container.name}`;
    const text = 'non-functional in v1.27+; use the "seccompProfile" field instead';
    const isSeccomp =
      Object.hasOwn(annotations, key) && container.securityContext?.seccompProfile === undefined;
    return [
      ...(isSeccomp ? [`${prefix}metadata.annotations[${key}]: ${text}`] : []),
      ...WHOLE_BYTES.flatMap((resource) => [
        ...fractionWarnings(limits, `${path}.resources.limits`, [resource]),
        ...fractionWarnings(requests, `${path}.resources.requests`, [resource]),
      ]),
      ...environmentWarnings(container.env ?? [], `${path}.env`),
    ];
  });
}

const WHOLE_BYTES: readonly string[] = ['memory', 'ephemeral-storage'];
const NANO = 1_000_000_000n;

/** Warns of amounts that are not whole numbers of bytes: mostly `100m` where `100M` was meant. */
export function fractionWarnings(
  amounts: StringMap = {},
  path = '',
  resources = WHOLE_BYTES,
): readonly string[] {
  return resources.flatMap((resource) => {
    const amount = Object.hasOwn(amounts, resource) ? amounts[resource] : undefined;
    const quantity = amount === undefined ? undefined : parseQuantity(amount);
    if (amount === undefined || quantity === undefined || quantity.nano % NANO === 0n) return [];
    const text = `fractional byte value ${quote(amount)} is invalid, must be an integer`;
    return [`${path}[${resource}]: ${text}`];
  });
}

/**
 * Warns of a duplicate variable, unless its second value builds on the first: `PATH:
 * $(PATH):/more`.
 */
function environmentWarnings(variables: readonly EnvVar[], path: string): readonly string[] {
  const seen = new Set<string>();
  return variables.flatMap(({ name, value = '', valueFrom }, index) => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const before = `$(${name})`;
    const buildsOnIt = valueFrom === undefined && value !== before && value.includes(before);
    const text = `hides previous definition of ${quote(name)}, which may be dropped when using apply`;
    return buildsOnIt ? [] : [`${path}[${index}]: ${text}`];
  });
}

interface PlacedPort {
  readonly port: ContainerPort;
  readonly path: string;
}

/** Warns of duplicate ports, which all containers of a Pod share. */
export function portsWarnings(spec: PodSpec, specPath: string): readonly string[] {
  const ports = placed(spec, specPath).flatMap(({ container, path }) =>
    (container.ports ?? []).map((port, index) => ({ port, path: `${path}.ports[${index}]` })),
  );
  const warnings: string[] = [];
  const byNumber = new Map<string, PlacedPort[]>();
  for (const { port, path } of ports) {
    if ((port.hostIP ?? '') !== '' && (port.hostPort ?? 0) === 0) {
      warnings.push(`${path}: hostIP set without hostPort: ${goText(port)}`);
    }
    const key = `${port.containerPort}/${port.protocol ?? ''}`;
    const others = byNumber.get(key) ?? [];
    for (const other of others) {
      const conflict = conflictOf(port, other.port);
      if (conflict !== undefined) {
        warnings.push(`${path}: ${conflict} port definition with ${other.path}`);
      }
    }
    byNumber.set(key, [...others, { port, path }]);
  }
  return [...warnings, ...portNameWarnings(ports)];
}

function conflictOf(one: ContainerPort, other: ContainerPort): string | undefined {
  const { hostPort = 0, hostIP = '' } = one;
  const { hostPort: otherPort = 0, hostIP: otherIP = '' } = other;
  if (hostPort === otherPort && hostIP === otherIP) return 'duplicate';
  if (hostPort === 0 || otherPort === 0) return 'overlapping';
  const isEitherOpen = (hostIP === '') !== (otherIP === '');
  return hostPort === otherPort && isEitherOpen ? 'dangerously ambiguous' : undefined;
}

function portNameWarnings(ports: readonly PlacedPort[]): readonly string[] {
  const byName = new Map<string, string>();
  return ports.flatMap(({ port: { name = '' }, path }) => {
    if (name === '') return [];
    const first = byName.get(name);
    if (first === undefined) {
      byName.set(name, path);
      return [];
    }
    const use = `services and probes that select ports by name will use ${first}`;
    return [`${path}: duplicate port name ${quote(name)} with ${first}, ${use}`];
  });
}

/** The port as the API server, written in Go, prints it. */
function goText({
  name = '',
  hostPort = 0,
  containerPort,
  protocol = '',
  hostIP = '',
}: ContainerPort): string {
  return `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
}

function placed(spec: PodSpec, path: string): readonly PlacedContainer[] {
  return (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).map((container, index) => ({
      container,
      path: `${path}.${list}[${index}]`,
    })),
  );
}
