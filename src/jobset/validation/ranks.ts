/**
 * Validates a JobSet whose agents start ranks. Each rank needs a number, a host name for the rank 0
 * that it calls, and an agent that gives it both.
 */
import { invalidValue, tooMany } from '@lockstep/kube/field-error.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { DefaultedReplicatedJob, DefaultedSpec } from '../defaults.ts';
import { templateAgent } from '../injection/template-agent.ts';
import type { JobSet } from '../jobset.ts';
import {
  ENV_JOB_INDEX,
  ENV_PROCESSES,
  ENV_PROCESSES_PER_POD,
  PROCESSES_PER_POD,
  RESTART_MODE,
} from '../names.ts';
import { MAX_RANKS } from '../ranks/group-ranks.ts';
import {
  MAX_PROCESSES_PER_POD,
  MAX_REPLICATED_JOBS_WITH_RANKS,
  parseProcessesPerPod,
  processesPerPod,
} from '../ranks/processes-per-pod.ts';

const FIELD = `metadata.annotations[${PROCESSES_PER_POD}]`;

/** The agent sets them for each rank, so a template that sets one means something else. */
const SET_BY_AGENT: ReadonlySet<string> = new Set([
  'LOCAL_RANK',
  'LOCAL_WORLD_SIZE',
  'GROUP_RANK',
  'GROUP_WORLD_SIZE',
  'RANK',
  'WORLD_SIZE',
  'MASTER_ADDR',
  ENV_PROCESSES,
  ENV_PROCESSES_PER_POD,
  ENV_JOB_INDEX,
]);

export function ranksErrors(
  { metadata: { annotations } }: Pick<JobSet, 'metadata'>,
  spec: DefaultedSpec,
): readonly FieldError[] {
  const text = annotations?.[PROCESSES_PER_POD];
  if (text === undefined) return [];
  const processes = parseProcessesPerPod(text);
  if (processes === undefined) {
    const detail = `expected a number of processes from 1 to ${MAX_PROCESSES_PER_POD}, or one for each ReplicatedJob, each named once, such as workers=8,driver=1`;
    return [invalidValue(FIELD, text, detail)];
  }
  const names = new Set(spec.replicatedJobs.map(({ name }) => name));
  const asked = typeof processes === 'number' ? [] : [...processes.keys()];
  const unknown = asked.filter((name) => !names.has(name));
  return [
    ...unknown.map((name) => invalidValue(FIELD, name, 'no ReplicatedJob has this name')),
    ...groupErrors(spec, annotations?.[RESTART_MODE]),
    ...spec.replicatedJobs.flatMap((job, index) =>
      processesPerPod(annotations, job.name) === undefined
        ? []
        : replicatedJobErrors(job, `spec.replicatedJobs[${index}].template.spec`),
    ),
    ...sizeErrors(spec, (name) => processesPerPod(annotations, name)),
  ];
}

/** Members that run have their numbers from it, and an epoch has one size. */
export function ranksChangeErrors(old: JobSet, jobSet: JobSet): readonly FieldError[] {
  const [before, after] = [old, jobSet].map(
    (each) => each.metadata.annotations?.[PROCESSES_PER_POD],
  );
  if (before === after) return [];
  const is = before === undefined ? 'absent' : JSON.stringify(before);
  const detail = `it is ${is} and immutable: Pods that run keep their number of processes; create the JobSet again`;
  return [invalidValue(FIELD, after ?? '', detail)];
}

function groupErrors(
  { failurePolicy, network }: DefaultedSpec,
  mode: string | undefined,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const refuse = (field: string, value: unknown, expected: string, why: string): void => {
    errors.push(
      invalidValue(field, value, `${expected} with ${PROCESSES_PER_POD}, because ${why}`),
    );
  };
  if (failurePolicy?.restartStrategy !== 'InPlaceRestart') {
    const field = 'spec.failurePolicy.restartStrategy';
    const value = failurePolicy?.restartStrategy ?? 'Recreate';
    refuse(field, value, 'must be InPlaceRestart', 'only an agent starts several processes');
  }
  if (mode === 'Sidecar') {
    const field = `metadata.annotations[${RESTART_MODE}]`;
    refuse(field, mode, 'must be Supervisor or Auto', 'a sidecar starts no processes');
  }
  if (!network.enableDNSHostnames) {
    const why = 'ranks call the host name of rank 0';
    refuse('spec.network.enableDNSHostnames', false, 'must be true', why);
  }
  return errors;
}

/** `path` is the path of the Job's spec. */
function replicatedJobErrors(
  { name, template: { spec } }: DefaultedReplicatedJob,
  path: string,
): readonly FieldError[] {
  const { completionMode, template } = spec;
  const errors: FieldError[] = [];
  const refuse = (field: string, value: unknown, expected: string, why?: string): void => {
    const because = why === undefined ? '' : `, because ${why}`;
    const detail = `replicatedJob ${name}: ${expected} with ${PROCESSES_PER_POD}${because}`;
    errors.push(invalidValue(`${path}.${field}`, value, detail));
  };
  if (completionMode !== 'Indexed') {
    refuse('completionMode', completionMode, 'must be Indexed');
  }
  const own = templateAgent(template);
  if (own !== undefined) {
    const list = template.spec.containers.includes(own) ? 'containers' : 'initContainers';
    const why = 'the template must have no agent of its own';
    refuse(`template.spec.${list}`, own.name, why);
  }
  for (const [index, { name: variable }] of (template.spec.containers[0]?.env ?? []).entries()) {
    if (!SET_BY_AGENT.has(variable)) continue;
    const field = `template.spec.containers[0].env[${index}].name`;
    refuse(field, variable, 'must not be set', 'the agent sets it for each rank');
  }
  return errors;
}

function sizeErrors(
  { replicatedJobs }: DefaultedSpec,
  processesOf: (name: string) => number | undefined,
): readonly FieldError[] {
  const ranked = replicatedJobs.filter(({ name }) => processesOf(name) !== undefined);
  const most = MAX_REPLICATED_JOBS_WITH_RANKS;
  if (ranked.length > most) {
    const detail = `${ranked.length} ReplicatedJobs would have ranks, expected at most ${most}: name only those whose members are ranks`;
    return [invalidValue(FIELD, ranked.length, detail)];
  }
  const world = ranked.reduce((sum, { name, replicas, template }) => {
    return sum + replicas * (template.spec.parallelism ?? 1) * (processesOf(name) ?? 0);
  }, 0);
  return world > MAX_RANKS ? [tooMany(FIELD, world, MAX_RANKS)] : [];
}
