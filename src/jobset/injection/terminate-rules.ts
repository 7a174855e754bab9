/**
 * Rewrites the restart rule `Terminate` for nodes that do not know it. If it matches first, a
 * regular container stays terminated under any policy, and an init container fails the Pod. Under
 * policy `Never` that is the default. So its exit codes are removed from the later rules, the
 * policy becomes `Never`, and a final `Restart` rule covers what another policy would have
 * restarted.
 */
import { invalidValue } from '@lockstep/kube/field-error.ts';
import type {
  Container,
  ContainerRestartRule,
  PodSpec,
  PodTemplateSpec,
} from '@lockstep/kube/objects/pod.ts';
import { matchingAction } from '@lockstep/kube/objects/restart-rule.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import {
  EVERY_EXIT,
  EVERY_FAILURE,
  type ExitCodeSet,
  exitCodesOf,
  minus,
  NO_EXIT,
  rulesFor,
  union,
} from '../restart-rules/exit-code-set.ts';
import { templateAgent } from './template-agent.ts';

/**
 * The template without `Terminate`. If `terminateErrors` has errors, the API server would refuse
 * it.
 */
export function withoutTerminate(template: PodTemplateSpec): PodTemplateSpec {
  const { containers, initContainers } = template.spec;
  if (![...containers, ...(initContainers ?? [])].some(usesTerminate)) return template;
  const agent = templateAgent(template);
  const translate = (container: Container): Container => {
    if (!usesTerminate(container)) return container;
    if (!isSidecar(container, template.spec)) return translated(container);
    return container === agent ? { ...container, restartPolicyRules: AGENT_RULES } : container;
  };
  return {
    ...template,
    spec: {
      ...template.spec,
      containers: containers.map(translate),
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(translate) }),
    },
  };
}

/** Uses of `Terminate` that cannot be expressed otherwise. `path` is the template's path. */
export function terminateErrors(template: PodTemplateSpec, path: string): readonly FieldError[] {
  const { containers, initContainers = [] } = template.spec;
  const agent = templateAgent(template);
  const errorsOf =
    (list: 'containers' | 'initContainers') =>
    (container: Container, index: number): readonly FieldError[] => {
      if (!usesTerminate(container) || container.restartPolicy === undefined) return [];
      const obstacle = obstacleOf(container, template.spec, agent);
      if (obstacle === undefined) return [];
      const rules = container.restartPolicyRules ?? [];
      const rule = rules.findIndex(({ action }) => action === 'Terminate');
      const field = `${path}.spec.${list}[${index}].restartPolicyRules[${rule}].action`;
      const detail = `the nodes of this cluster do not know Terminate, and other rules cannot replace it ${obstacle}`;
      return [invalidValue(field, 'Terminate', detail)];
    };
  return [
    ...initContainers.flatMap(errorsOf('initContainers')),
    ...containers.flatMap(errorsOf('containers')),
  ];
}

/** An agent that restarts alone would leave its worker in a past epoch. */
const AGENT_RULES: readonly ContainerRestartRule[] = rulesFor('RestartAllContainers', EVERY_EXIT);

function usesTerminate({ restartPolicyRules }: Container): boolean {
  return restartPolicyRules?.some(({ action }) => action === 'Terminate') ?? false;
}

function isSidecar(container: Container, { initContainers = [] }: PodSpec): boolean {
  return container.restartPolicy === 'Always' && initContainers.includes(container);
}

/**
 * Why the translation of this container would behave differently, as the end of a sentence. Two
 * reasons matter only if its policy changes to `Never`: probes kill a container to restart it only
 * under other policies, and a recreated sandbox starts ended containers.
 */
function obstacleOf(
  container: Container,
  pod: PodSpec,
  agent: Container | undefined,
): string | undefined {
  const rules = container.restartPolicyRules ?? [];
  if (isSidecar(container, pod)) {
    return container === agent ? undefined : 'for a sidecar, which is always restarted';
  }
  if (pod.initContainers?.includes(container) === true) {
    if (matchingAction(rules, 0) === 'Terminate') {
      return 'for exit code 0 of an init container, which always lets the Pod go on';
    }
  } else {
    const keepsPolicy = container.restartPolicy === 'Never';
    for (const probe of ['livenessProbe', 'startupProbe'] as const) {
      if (!keepsPolicy && container[probe] !== undefined) {
        return `on a container with a ${probe} whose restartPolicy is not Never`;
      }
    }
    if (pod.containers.length > 1 && !(keepsPolicy && pod.restartPolicy === 'Never')) {
      return 'beside another container unless restartPolicy is Never for both the container and the Pod';
    }
  }
  return undefined;
}

function translated(container: Container): Container {
  const { restartPolicy, restartPolicyRules = [] } = container;
  // Rules count only with a policy, and API servers refuse them without one.
  if (restartPolicy === undefined) return container;
  let terminated = NO_EXIT;
  const rules: ContainerRestartRule[] = [];
  for (const rule of restartPolicyRules) {
    const codes = exitCodesOf(rule);
    if (rule.action === 'Terminate') terminated = union(terminated, codes);
    else rules.push(...rulesFor(rule.action, minus(codes, terminated)));
  }
  const { [restartPolicy]: restarted } = RESTARTED_BY;
  rules.push(...rulesFor('Restart', minus(restarted, terminated)));
  return { ...container, restartPolicy: 'Never', restartPolicyRules: rules };
}

const RESTARTED_BY: Readonly<Record<NonNullable<Container['restartPolicy']>, ExitCodeSet>> = {
  Always: EVERY_EXIT,
  OnFailure: EVERY_FAILURE,
  Never: NO_EXIT,
};
