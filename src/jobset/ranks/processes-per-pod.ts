/** Reads `lockstep/processes-per-pod`: how many ranks each member of a ReplicatedJob has. */
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { PodTemplateSpec } from '@lockstep/kube/objects/pod.ts';
import { ENV_PROCESSES_PER_POD, PROCESSES_PER_POD } from '../names.ts';

export const MAX_PROCESSES_PER_POD = 64;
/** Their numbers are in each message about the state of a group, which has 2,048 bytes. */
export const MAX_REPLICATED_JOBS_WITH_RANKS = 12;

/** One number for all members, or the number by ReplicatedJob; members of others are no ranks. */
export type ProcessesPerPod = number | ReadonlyMap<string, number>;

/** Undefined for an invalid text. */
export function parseProcessesPerPod(text: string): ProcessesPerPod | undefined {
  if (!text.includes('=')) return parseProcesses(text);
  const byName = new Map<string, number>();
  for (const entry of text.split(',')) {
    const [, name, number = ''] = /^([a-z0-9]+(?:-+[a-z0-9]+)*)=(.*)$/.exec(entry) ?? [];
    const processes = parseProcesses(number);
    if (name === undefined || processes === undefined || byName.has(name)) return undefined;
    byName.set(name, processes);
  }
  return byName;
}

/** Undefined: the command of the ReplicatedJob's members runs once, and is no rank. */
export function processesPerPod(
  annotations: StringMap | undefined,
  replicatedJob: string,
): number | undefined {
  const parsed = parseProcessesPerPod(annotations?.[PROCESSES_PER_POD] ?? '');
  return typeof parsed === 'number' ? parsed : parsed?.get(replicatedJob);
}

/** What a template with its agent says of itself, which counts for its Pods whatever is asked now. */
export function carriedProcesses(template: PodTemplateSpec): number | undefined {
  for (const { env = [] } of template.spec.containers) {
    const variable = env.find(({ name }) => name === ENV_PROCESSES_PER_POD);
    if (variable !== undefined) return parseProcesses(variable.value ?? '');
  }
  return undefined;
}

function parseProcesses(text: string): number | undefined {
  const processes = /^[1-9]\d?$/.test(text) ? Number(text) : Number.NaN;
  return processes <= MAX_PROCESSES_PER_POD ? processes : undefined;
}
