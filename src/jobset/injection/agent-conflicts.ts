/**
 * Conflicts of a Pod template with an injected agent. Names, paths and the port that the agent needs
 * are errors; behaviour that may surprise the template's owner is a warning.
 */
import { forbiddenField, invalidValue } from '@lockstep/kube/field-error.ts';
import type { Container, PodTemplateSpec } from '@lockstep/kube/objects/pod.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import {
  AGENT_CONTAINER,
  AGENT_DIRECTORY,
  AGENT_FILES_VOLUME_NAME,
  AGENT_INSTALL_CONTAINER_NAME,
  AGENT_TOKEN_VOLUME_NAME,
  BARRIER_PORT,
  HUB_TOKEN_DIRECTORY,
  HUB_TOKEN_VOLUME_NAME,
  LOST_NODE_DEADLINE,
  MARKER_DIRECTORY,
  MARKER_VOLUME_NAME,
  PROGRESS_VOLUME_NAME,
} from '../names.ts';
import { progressConflicts } from './progress-volume.ts';

/**
 * Errors of either mode. `path` is the template's path, and ends with a dot unless it is empty.
 */
export function templateConflicts(template: PodTemplateSpec, path: string): readonly FieldError[] {
  return [
    ...annotationErrors(template, path),
    ...nameErrors(template, path),
    ...volumeErrors(template, path),
  ];
}

/** The containers of a Pod share its ports, and the barrier needs one of them. */
export function sidecarConflicts({ spec }: PodTemplateSpec, path: string): readonly FieldError[] {
  const portErrors =
    (list: 'containers' | 'initContainers') =>
    ({ ports = [] }: Container, index: number): readonly FieldError[] =>
      ports.flatMap(({ containerPort, protocol = 'TCP' }, port) => {
        if (containerPort !== BARRIER_PORT || protocol !== 'TCP') return [];
        const field = `${path}spec.${list}[${index}].ports[${port}].containerPort`;
        const detail =
          'is the port of the barrier, which the agent listens on in the same Pod; use another port, or Supervisor mode, which has no barrier port';
        return [invalidValue(field, containerPort, detail)];
      });
  return [
    ...(spec.initContainers ?? []).flatMap(portErrors('initContainers')),
    ...spec.containers.flatMap(portErrors('containers')),
    ...progressConflicts(spec.containers, path),
  ];
}

/** `worker` is the first container of its template. */
export function supervisorConflicts(worker: Container, path: string): readonly FieldError[] {
  return (worker.volumeMounts ?? []).flatMap(({ mountPath }, index) => {
    if (!AGENT_DIRECTORIES.has(mountPath.replace(/\/+$/, ''))) return [];
    const field = `${path}spec.containers[0].volumeMounts[${index}].mountPath`;
    return [
      invalidValue(field, mountPath, "is where the supervising agent's own volume is mounted"),
    ];
  });
}

/** Warnings about containers beside a sidecar. */
export function sidecarWarnings(containers: readonly Container[]): readonly string[] {
  return containers.flatMap((container) =>
    (container.restartPolicyRules ?? []).some((rule) => rule.action === 'Restart')
      ? [
          `container "${container.name}" has a restart rule with action Restart: in Sidecar mode it ` +
            'restarts this container alone, in its epoch, without the rest of the group',
        ]
      : [],
  );
}

/** Warnings about a supervised worker and the containers beside it. */
export function supervisorWarnings(
  worker: Container,
  others: readonly Container[],
): readonly string[] {
  const probes = (['livenessProbe', 'startupProbe'] as const).filter(
    (name) => worker[name] !== undefined,
  );
  const hooks = (['postStart', 'preStop'] as const).filter(
    (name) => worker.lifecycle?.[name] !== undefined,
  );
  return [
    ...probes.map(
      (name) =>
        `container "${worker.name}" has a ${name}: in Supervisor mode it also runs while the agent ` +
        'waits at the barrier and no worker can answer it',
    ),
    ...hooks.map(
      (name) =>
        `container "${worker.name}" has a ${name} hook: in Supervisor mode it runs once for the ` +
        'container, not for each start of the worker',
    ),
    ...(others.length === 0
      ? []
      : [
          `in Supervisor mode only the first container, "${worker.name}", restarts with the group; ` +
            `${others.map(({ name }) => `"${name}"`).join(', ')} run on`,
        ]),
  ];
}

function annotationErrors({ metadata }: PodTemplateSpec, path: string): readonly FieldError[] {
  return MEANINGLESS_ANNOTATIONS.flatMap(([key, detail]) => {
    const value = metadata?.annotations?.[key];
    if (value === undefined) return [];
    return [invalidValue(`${path}metadata.annotations[${key}]`, value, detail)];
  });
}

/** Annotations without effect in a template without its own agent, with what to use instead. */
const MEANINGLESS_ANNOTATIONS: readonly (readonly [string, string])[] = [
  [AGENT_CONTAINER, 'must be the name of a container or init container of this template'],
  [LOST_NODE_DEADLINE, 'must be an annotation of the JobSet, from which the agent learns of it'],
];

function nameErrors({ spec }: PodTemplateSpec, path: string): readonly FieldError[] {
  return (['initContainers', 'containers'] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap(({ name }, index) => {
      if (name !== AGENT_INSTALL_CONTAINER_NAME) return [];
      const detail = `"${name}" is the name of the container that brings a supervising agent`;
      return [forbiddenField(`${path}spec.${list}[${index}].name`, detail)];
    }),
  );
}

const AGENT_DIRECTORIES: ReadonlySet<string> = new Set([
  AGENT_DIRECTORY,
  MARKER_DIRECTORY,
  HUB_TOKEN_DIRECTORY,
]);

const AGENT_VOLUMES: ReadonlySet<string> = new Set([
  AGENT_FILES_VOLUME_NAME,
  MARKER_VOLUME_NAME,
  AGENT_TOKEN_VOLUME_NAME,
  HUB_TOKEN_VOLUME_NAME,
  PROGRESS_VOLUME_NAME,
]);

function volumeErrors({ spec }: PodTemplateSpec, path: string): readonly FieldError[] {
  return (spec.volumes ?? []).flatMap(({ name }, index) => {
    if (!AGENT_VOLUMES.has(name)) return [];
    const detail = `"${name}" is the name of a volume of the injected agent`;
    return [forbiddenField(`${path}spec.volumes[${index}].name`, detail)];
  });
}
