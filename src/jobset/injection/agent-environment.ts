/**
 * The environment that an agent needs, in a container of its own or beside the worker's variables,
 * which keep their meaning.
 */
import { invalidValue } from '@lockstep/kube/field-error.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { Container, EnvVar } from '@lockstep/kube/objects/pod.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { isOff, OFF } from '../annotations/table.ts';
import {
  ENV_AGENT_VARIABLES,
  ENV_EXIT_CODE,
  ENV_JOB_INDEX,
  ENV_JOBSET_NAME,
  ENV_JOBSET_UID,
  ENV_LOG_PREFIX,
  ENV_LOST_NODE_DEADLINE,
  ENV_MARKER_DIRECTORY,
  ENV_NAMESPACE,
  ENV_POD_IP,
  ENV_POD_NAME,
  ENV_POD_UID,
  ENV_PROCESSES_PER_POD,
  ENV_REPLICATED_JOB_NAME,
  JOB_INDEX,
  JOBSET_NAME,
  JOBSET_UID,
  LOG_PREFIX,
  MARKER_DIRECTORY,
  REPLICATED_JOB_NAME,
} from '../names.ts';

/** The variables of the agent, most of them from the downward API. */
export function agentEnvironment(
  exitCode: number,
  lostNodeDeadline: string | undefined,
): readonly EnvVar[] {
  return [
    fromField(ENV_NAMESPACE, 'metadata.namespace'),
    fromField(ENV_POD_NAME, 'metadata.name'),
    fromField(ENV_POD_UID, 'metadata.uid'),
    fromField(ENV_POD_IP, 'status.podIP'),
    fromField(ENV_JOBSET_NAME, `metadata.annotations['${JOBSET_NAME}']`),
    fromField(ENV_JOBSET_UID, `metadata.annotations['${JOBSET_UID}']`),
    fromField(ENV_REPLICATED_JOB_NAME, `metadata.annotations['${REPLICATED_JOB_NAME}']`),
    { name: ENV_EXIT_CODE, value: String(exitCode) },
    { name: ENV_MARKER_DIRECTORY, value: MARKER_DIRECTORY },
    ...(lostNodeDeadline === undefined
      ? []
      : [{ name: ENV_LOST_NODE_DEADLINE, value: lostNodeDeadline }]),
  ];
}

/**
 * What the agent of a member with ranks needs to know: how many it starts, and which Job its Pod
 * belongs to. Kubernetes itself gives it the completion index.
 */
export function ranksEnvironment(
  processes: number | undefined,
  annotations: StringMap | undefined,
): readonly EnvVar[] {
  if (processes === undefined) return [];
  return [
    { name: ENV_PROCESSES_PER_POD, value: String(processes) },
    fromField(ENV_JOB_INDEX, `metadata.annotations['${JOB_INDEX}']`),
    ...(isOff(LOG_PREFIX, annotations?.[LOG_PREFIX]) ? [{ name: ENV_LOG_PREFIX, value: OFF }] : []),
  ];
}

function fromField(name: string, fieldPath: string): EnvVar {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}

/**
 * The worker inherits the supervisor's environment, so its own variables must keep their values.
 * The agent hides all others from it.
 */
export function mergeEnvironment(
  own: readonly EnvVar[],
  added: readonly EnvVar[],
): readonly EnvVar[] {
  const names = new Set(own.map(({ name }) => name));
  const ofAgent = added.filter(({ name }) => !names.has(name));
  const value = ofAgent.map(({ name }) => name).join(',');
  return [...own, ...ofAgent, { name: ENV_AGENT_VARIABLES, value }];
}

/** `path` is the path of the worker's `env`. */
export function environmentErrors(
  worker: Container,
  added: readonly EnvVar[],
  path: string,
): readonly FieldError[] {
  return (worker.env ?? []).flatMap((variable, index) => {
    const needed = added.find(({ name }) => name === variable.name);
    if (needed === undefined || isSameVariable(needed, variable)) return [];
    const expected =
      needed.value === undefined
        ? `the field ${needed.valueFrom?.fieldRef?.fieldPath ?? ''}`
        : JSON.stringify(needed.value);
    const detail = `the supervising agent needs this variable to hold ${expected}`;
    return [invalidValue(`${path}[${index}]`, variable.name, detail)];
  });
}

function isSameVariable(a: EnvVar, b: EnvVar): boolean {
  return (
    a.value === b.value && a.valueFrom?.fieldRef?.fieldPath === b.valueFrom?.fieldRef?.fieldPath
  );
}
