/**
 * Reads the annotations about a JobSet's agents: the mode, and whether its templates get an agent.
 */
import { required, unknownValueErrors } from '@lockstep/kube/field-error.ts';
import { defined } from '@lockstep/kube/json/defined.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { PodTemplateSpec } from '@lockstep/kube/objects/pod.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { asked, isOff, OFF } from '../annotations/table.ts';
import type { DefaultedSpec } from '../defaults.ts';
import { RESTART_MODES, type RestartMode } from '../jobset-status.ts';
import {
  AGENT_CHANNEL,
  AGENT_CONTAINER,
  AGENT_CONTAINER_NAME,
  AGENT_INJECTION,
  ENV_EXIT_CODE,
  LOST_NODE_DEADLINE,
  RESTART_BACKOFF,
  RESTART_MODE,
  UPSTREAM_AGENT_CONTAINER_NAME,
  UPSTREAM_ENV_EXIT_CODE,
} from '../names.ts';
import { processesPerPod } from '../ranks/processes-per-pod.ts';
import type { RestartAllProblem } from '../restart-rules/restart-rules.ts';
import type { AgentDelivery } from './agent-delivery.ts';
import { AGENT_CHANNELS, hubAccess, type ServedHub } from './agent-hub.ts';
import { type AgentInjection, injectAgent } from './agent-injection.ts';
import { isShared, type ShareOptions } from './agent-resources.ts';
import { settingsErrors } from './agent-settings.ts';
import { templateAgent, templateAgentWarning } from './template-agent.ts';
import { terminateErrors, withoutTerminate } from './terminate-rules.ts';

export interface AgentProgram extends ShareOptions {
  /** Image of injected agents. */
  readonly image: string;
  /** The agent's program in that image and in the workers', by default `lockstep-agent`. */
  readonly command?: string;
  /** How supervisors get into their workers' containers, by default `WorkerImage`. */
  readonly delivery?: AgentDelivery;
  /** Whether nodes know `Terminate` themselves. Nodes of the embedded cluster do. */
  readonly nativeRestartRules?: boolean;
  /** The operator's hub; absent: agents use the API server alone. */
  readonly hub?: ServedHub;
  /**
   * Whether accounts that templates name get the rights of agents that may use the API server.
   */
  readonly grantsRights?: boolean;
  /** Why nodes cannot restart all containers of a Pod in place; absent: they can. */
  readonly restartAllProblem?: RestartAllProblem;
}

export function agentInjector(
  spec: DefaultedSpec,
  annotations: StringMap | undefined,
  { hub: served, ...agent }: AgentProgram,
): InjectAgent {
  const express = (template: PodTemplateSpec): PodTemplateSpec =>
    agent.nativeRestartRules === true ? template : withoutTerminate(template);
  if (!wantsAgents(spec, annotations)) return express;
  const mode = restartMode(annotations);
  const lostNodeDeadline = asked(annotations, LOST_NODE_DEADLINE);
  const hub = hubAccess(served, annotations);
  const options = { ...agent, ...defined({ hub }), mode, lostNodeDeadline, annotations };
  return (template, replicatedJob) => {
    const processes = processesPerPod(annotations, replicatedJob);
    return express(injectAgent(template, { ...options, processes }).template);
  };
}

/** Restart rules of the templates that the nodes of this cluster cannot follow. */
export function restartRuleErrors(
  { replicatedJobs }: DefaultedSpec,
  { nativeRestartRules = false }: Pick<AgentProgram, 'nativeRestartRules'>,
): readonly FieldError[] {
  if (nativeRestartRules) return [];
  return replicatedJobs.flatMap(({ template }, index) =>
    terminateErrors(template.spec.template, `spec.replicatedJobs[${index}].template.spec.template`),
  );
}

/** Injects into one template, for the errors and warnings of the result. */
export function tryInjection(
  template: PodTemplateSpec,
  path: string,
  spec: DefaultedSpec,
  annotations: StringMap | undefined,
  share: ShareOptions = {},
): AgentInjection {
  if (wantsAgents(spec, annotations)) {
    const lostNodeDeadline = asked(annotations, LOST_NODE_DEADLINE);
    const mode = restartMode(annotations);
    return injectAgent(template, {
      ...share,
      image: '',
      mode,
      lostNodeDeadline,
      annotations,
      path,
    });
  }
  if (spec.failurePolicy?.restartStrategy !== 'InPlaceRestart') {
    return { template, warnings: [], errors: [] };
  }
  const own = templateAgent(template);
  if (own === undefined) {
    const detail = `${AGENT_INJECTION} is ${annotations?.[AGENT_INJECTION]}, so the template needs an agent of its own: a container named ${AGENT_CONTAINER_NAME} or ${UPSTREAM_AGENT_CONTAINER_NAME}, one with environment variable ${ENV_EXIT_CODE} or ${UPSTREAM_ENV_EXIT_CODE}, or one that annotation ${AGENT_CONTAINER} of the template names`;
    return { template, warnings: [], errors: [required(`${path}.spec.initContainers`, detail)] };
  }
  const warning = templateAgentWarning(template, own);
  return { template, warnings: warning === undefined ? [] : [warning], errors: [] };
}

/** Invalid values of annotations that say which agents the Pods of a JobSet get. */
export function annotationErrors(annotations: StringMap | undefined): readonly FieldError[] {
  return [
    ...ALLOWED_VALUES.flatMap(([key, allowed]) =>
      unknownValueErrors(`metadata.annotations[${key}]`, annotations?.[key], allowed),
    ),
    ...settingsErrors(annotations),
  ];
}

const ALLOWED_VALUES: readonly (readonly [string, readonly string[]])[] = [
  [RESTART_MODE, ['Auto', ...RESTART_MODES]],
  [AGENT_INJECTION, ['Enabled', OFF, 'Disabled']],
  [AGENT_CHANNEL, AGENT_CHANNELS],
  [RESTART_BACKOFF, ['Enabled', OFF, 'Disabled']],
];

/** Whether templates without their own agent get one. */
export function wantsAgents(spec: DefaultedSpec, annotations: StringMap | undefined): boolean {
  return (
    spec.failurePolicy?.restartStrategy === 'InPlaceRestart' &&
    !isOff(AGENT_INJECTION, annotations?.[AGENT_INJECTION])
  );
}

/** The mode of the templates that get an agent; undefined if none does. */
export function injectedMode(
  spec: DefaultedSpec,
  annotations: StringMap | undefined,
): RestartMode | undefined {
  if (!wantsAgents(spec, annotations)) return undefined;
  const isInjected = spec.replicatedJobs.some(
    ({ template }) => templateAgent(template.spec.template) === undefined,
  );
  return isInjected ? restartMode(annotations) : undefined;
}

/** Whether workers share their Pods' resources with agents in containers of their own. */
export function sharesWithSidecars(
  spec: DefaultedSpec,
  annotations: StringMap | undefined,
): boolean {
  if (!wantsAgents(spec, annotations) || restartMode(annotations) !== 'Sidecar') return false;
  return spec.replicatedJobs.some(({ template }) => {
    const podTemplate = template.spec.template;
    const [worker] = podTemplate.spec.containers;
    return worker !== undefined && isShared(worker) && templateAgent(podTemplate) === undefined;
  });
}

function restartMode(annotations: StringMap | undefined): RestartMode {
  return annotations?.[RESTART_MODE] === 'Supervisor' ? 'Supervisor' : 'Sidecar';
}

/**
 * Adds the agent to a Pod template, or returns it as it is; `injection/agent-injection.ts` decides.
 * All Jobs of a ReplicatedJob share the result.
 */
export type InjectAgent = (template: PodTemplateSpec, replicatedJob: string) => PodTemplateSpec;
