/** The operator's additions to the Pods of a JobSet, in words. */

import { listed } from '@lockstep/kube/listed.ts';
import type { Container, PodTemplateSpec } from '@lockstep/kube/objects/pod.ts';
import { asked, isOff } from '../../annotations/table.ts';
import type { DefaultedReplicatedJob } from '../../defaults.ts';
import { injectAgent } from '../../injection/agent-injection.ts';
import { templateAgent } from '../../injection/template-agent.ts';
import type { RestartMode } from '../../jobset-status.ts';
import {
  AGENT_CONTAINER,
  AGENT_CONTAINER_NAME,
  AGENT_INJECTION,
  LOST_NODE_DEADLINE,
  RESTART_MODE,
} from '../../names.ts';
import { processesPerPod } from '../../ranks/processes-per-pod.ts';
import { type Asked, isInPlace, modeOf, type Words } from './asked.ts';

/** Says where the operator's own configuration decides, which is not known here. */
export function injectionWords(asked: Asked): Words {
  const { metadata, spec } = asked;
  const all = 'Jobs and Pods get labels that name their JobSet, replicated Job and index.';
  if (!isInPlace(asked)) {
    return [all, 'No agent is injected: only groups that restart in place have one.'];
  }
  if (isOff(AGENT_INJECTION, metadata.annotations?.[AGENT_INJECTION])) {
    const why = `${AGENT_INJECTION} is ${metadata.annotations?.[AGENT_INJECTION]}, so every template has its own`;
    return [all, `No agent is injected: ${why}.`, ...spec.replicatedJobs.flatMap(ownAgent)];
  }
  const mode = modeOf(asked);
  const withoutOwn = spec.replicatedJobs.filter((each) => ownAgent(each).length === 0);
  return [
    all,
    ...modeWords(asked, mode),
    ...spec.replicatedJobs.flatMap(ownAgent),
    ...withoutOwn.flatMap((each) => (mode === undefined ? [] : addedWords(each, mode, asked))),
    ...(withoutOwn.length === 0 ? [] : [UNKNOWN]),
  ];
}

const UNKNOWN =
  'The JobSet alone does not tell the image of the agent, nor whether it uses the hub: the configuration of the operator does.';

const MODES: Readonly<Record<RestartMode, string>> = {
  Sidecar:
    'Sidecar mode: an agent beside the workers lets the node restart all containers of a Pod.',
  Supervisor: 'Supervisor mode: an agent starts the worker of a Pod itself, and starts it again.',
};

function modeWords({ metadata }: Asked, mode: RestartMode | undefined): Words {
  if (mode !== undefined) return [MODES[mode]];
  const asked = metadata.annotations?.[RESTART_MODE];
  const why = asked === undefined ? `${RESTART_MODE} is not set` : `${RESTART_MODE} is ${asked}`;
  return [`Sidecar or Supervisor mode: ${why}, and the operator chooses with the first Job.`];
}

function ownAgent({ name, template }: DefaultedReplicatedJob): Words {
  const own = templateAgent(template.spec.template);
  if (own === undefined) return [];
  const named = template.spec.template.metadata?.annotations?.[AGENT_CONTAINER] !== undefined;
  const how = named ? `, as ${AGENT_CONTAINER} says` : '';
  return [
    `${name}: container ${own.name} is its own agent${how}, and nothing is injected.`,
    ...deadlineWords({ name, template }),
  ];
}

/** Only a template with its own agent needs the annotation. */
function deadlineWords({
  name,
  template,
}: Pick<DefaultedReplicatedJob, 'name' | 'template'>): Words {
  const deadline = template.spec.template.metadata?.annotations?.[LOST_NODE_DEADLINE];
  return deadline === undefined
    ? []
    : [`${name}: its template says ${LOST_NODE_DEADLINE}: ${deadline}.`];
}

/** Injects an agent and names the additions. It does not show the image, so any will do. */
function addedWords(
  { name, template: { spec } }: DefaultedReplicatedJob,
  mode: RestartMode,
  { metadata: { annotations } }: Asked,
): Words {
  const before = spec.template;
  const lostNodeDeadline = asked(annotations, LOST_NODE_DEADLINE);
  const injection = injectAgent(before, {
    mode,
    image: '',
    lostNodeDeadline,
    annotations,
    processes: processesPerPod(annotations, name),
  });
  const [error] = injection.errors;
  if (error !== undefined) {
    return [`${name}: no agent can be injected: ${error.field}: ${error.detail}.`];
  }
  const after = injection.template;
  return [
    `${name}: ${agentWords(before, mode)}.`,
    ...deadlineWords({ name, template: { spec } }),
    ...containerWords(before, after).map((words) => `${name}: ${words}.`),
    ...added('volume', volumesOf(before), volumesOf(after)).map((words) => `${name}: ${words}.`),
    ...(lostNodeDeadline === undefined
      ? []
      : [`${name}: Pods tolerate a lost node for the deadline of ${LOST_NODE_DEADLINE} only.`]),
  ];
}

function agentWords({ spec }: PodTemplateSpec, mode: RestartMode): string {
  return mode === 'Sidecar'
    ? `sidecar container ${AGENT_CONTAINER_NAME}, whose startup probe is the barrier`
    : `the agent becomes the entry point of container ${spec.containers[0]?.name}, and runs its command`;
}

/** Words about containers that the template had before. */
function containerWords(before: PodTemplateSpec, after: PodTemplateSpec): Words {
  return before.spec.containers.flatMap((was, index) => {
    const is = after.spec.containers[index];
    if (is === undefined) return [];
    const rules =
      (was.restartPolicyRules ?? []).length === 0 && is.restartPolicyRules !== undefined;
    const words = [
      ...added('variable', variablesOf(was), variablesOf(is)),
      ...added('mount', mountsOf(was), mountsOf(is)),
      ...(rules ? ['a restart rule for exit codes other than 0'] : []),
    ];
    return words.length === 0 ? [] : [`container ${was.name} gets ${listed(words)}`];
  });
}

/** `volumes a and b`, or nothing. */
function added(what: string, before: readonly string[], after: readonly string[]): Words {
  const fresh = after.filter((name) => !before.includes(name));
  return fresh.length === 0 ? [] : [`${what}${fresh.length === 1 ? '' : 's'} ${listed(fresh)}`];
}

function volumesOf({ spec }: PodTemplateSpec): readonly string[] {
  return (spec.volumes ?? []).map(({ name }) => name);
}

function variablesOf({ env = [] }: Container): readonly string[] {
  return env.map(({ name }) => name);
}

function mountsOf({ volumeMounts = [] }: Container): readonly string[] {
  return volumeMounts.map(({ mountPath }) => mountPath);
}
