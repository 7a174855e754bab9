/**
 * Groups on nodes that cannot restart all containers of a Pod in place (before Kubernetes 1.36, or
 * with the feature off). Agents supervise their workers, and no container has a rule with that
 * action, which the API server would refuse or drop. A template that needs it is refused.
 */
import { invalidValue } from '@lockstep/kube/field-error.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { Container, PodTemplateSpec } from '@lockstep/kube/objects/pod.ts';
import { restartsPod } from '@lockstep/kube/objects/restart-rule.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { DefaultedSpec } from '../defaults.ts';
import { RESTART_MODE } from '../names.ts';
import { type AgentProgram, wantsAgents } from './agent-mode.ts';
import { templateAgent } from './template-agent.ts';

/** Why a group cannot restart in place on such nodes. */
export function nodeSupportErrors(
  spec: DefaultedSpec,
  annotations: StringMap | undefined,
  { restartAllProblem }: Pick<AgentProgram, 'restartAllProblem'>,
): readonly FieldError[] {
  const why = restartAllProblem?.why;
  if (why === undefined || spec.failurePolicy?.restartStrategy !== 'InPlaceRestart') return [];
  const mode = annotations?.[RESTART_MODE] ?? 'Sidecar';
  const isSidecar = wantsAgents(spec, annotations) && mode !== 'Supervisor';
  const detail = `${why}: without that only Supervisor is possible`;
  return [
    ...(isSidecar ? [invalidValue(`metadata.annotations[${RESTART_MODE}]`, mode, detail)] : []),
    ...spec.replicatedJobs.flatMap(({ template }, index) =>
      templateErrors(
        template.spec.template,
        `spec.replicatedJobs[${index}].template.spec.template`,
        why,
      ),
    ),
  ];
}

function templateErrors(
  template: PodTemplateSpec,
  path: string,
  why: string,
): readonly FieldError[] {
  const own = templateAgent(template);
  const [worker] = template.spec.containers;
  const command = worker?.command ?? [];
  const detail = `${why}: without that the agent has to start the worker, and needs its command`;
  return [
    ...(own === undefined && command.length === 0
      ? [invalidValue(`${path}.spec.containers[0].command`, command, detail)]
      : []),
    ...(['initContainers', 'containers'] as const).flatMap((list) =>
      (template.spec[list] ?? []).flatMap((container, index) => {
        // The rules of the supervised container are for the agent.
        const isSupervised = own === undefined && container === worker;
        return isSupervised ? [] : ruleErrors(container, `${path}.spec.${list}[${index}]`, why);
      }),
    ),
  ];
}

function ruleErrors(
  { restartPolicyRules = [] }: Container,
  path: string,
  why: string,
): readonly FieldError[] {
  return restartPolicyRules.flatMap(({ action }, index) =>
    restartsPod(action)
      ? [invalidValue(`${path}.restartPolicyRules[${index}].action`, action, why)]
      : [],
  );
}
