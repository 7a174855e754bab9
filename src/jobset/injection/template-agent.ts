/**
 * An agent that is part of a Pod template: how it is recognised, and whether its restart rules do
 * what the protocol needs. The template is left as it is.
 */
import type {
  Container,
  ContainerRestartRule,
  PodTemplateSpec,
} from '@lockstep/kube/objects/pod.ts';
import { matchingAction, restartsPod } from '@lockstep/kube/objects/restart-rule.ts';
import {
  AGENT_CONTAINER,
  AGENT_CONTAINER_NAME,
  ENV_EXIT_CODE,
  ENV_LOST_NODE_DEADLINE,
  LOST_NODE_DEADLINE,
  ONLY_CANONICAL_ENV,
  UPSTREAM_AGENT_CONTAINER_NAME,
  UPSTREAM_ENV_EXIT_CODE,
} from '../names.ts';

/** The container of the template that is an agent, or undefined. */
export function templateAgent(template: PodTemplateSpec): Container | undefined {
  const named = template.metadata?.annotations?.[AGENT_CONTAINER];
  const containers = [...(template.spec.initContainers ?? []), ...template.spec.containers];
  return containers.find((container) =>
    named === undefined ? looksLikeAgent(container) : container.name === named,
  );
}

function looksLikeAgent(container: Container): boolean {
  return (
    container.name === AGENT_CONTAINER_NAME ||
    container.name === UPSTREAM_AGENT_CONTAINER_NAME ||
    (container.env ?? []).some(
      (variable) => variable.name === ENV_EXIT_CODE || variable.name === UPSTREAM_ENV_EXIT_CODE,
    )
  );
}

/** Whether our agent, started in this container, would read upstream's environment as its own. */
export function speaksUpstreamsDialect({ env = [] }: Container): boolean {
  return !env.some(({ name }) => ONLY_CANONICAL_ENV.some((ours) => ours === name));
}

/** A warning for the owner if the agent of a template is wrong; undefined: it is right. */
export function templateAgentWarning(
  template: PodTemplateSpec,
  agent: Container,
): string | undefined {
  const isSidecar =
    agent.restartPolicy === 'Always' && (template.spec.initContainers ?? []).includes(agent);
  if (!isSidecar) return undefined;
  const code = firstExitThatKeepsThePod(agent.restartPolicyRules ?? []);
  if (code === undefined) return undefined;
  return (
    `the restart rules of agent container "${agent.name}" do not restart the Pod when it exits ` +
    `with ${code}: an agent that restarts alone leaves its worker in a past epoch; ` +
    'use one rule with action RestartPod and exitCodes {operator: NotIn, values: []}'
  );
}

/** Why a Pod of the template is not deleted by force although its JobSet has a deadline. */
export function untoldAgentWarning(
  { metadata }: PodTemplateSpec,
  { name, env = [] }: Container,
): string | undefined {
  const isTold =
    metadata?.annotations?.[LOST_NODE_DEADLINE] !== undefined &&
    env.some((variable) => variable.name === ENV_LOST_NODE_DEADLINE);
  if (isTold) return undefined;
  return (
    `${LOST_NODE_DEADLINE} has no effect on Pods of this template: agent container "${name}" is its ` +
    `own; set variable ${ENV_LOST_NODE_DEADLINE} and the same annotation of the template`
  );
}

const LAST_EXIT_CODE = 255;

function firstExitThatKeepsThePod(rules: readonly ContainerRestartRule[]): number | undefined {
  for (let code = 0; code <= LAST_EXIT_CODE; code++) {
    if (!restartsPod(matchingAction(rules, code))) return code;
  }
  return undefined;
}
