import type {
  Container,
  ContainerRestartRule,
  PodTemplateSpec,
} from '@lockstep/kube/objects/pod.ts';

/** Why the nodes of a group cannot restart all containers of a Pod in place. */
export interface RestartAllProblem {
  readonly why: string;
  /**
   * The API server keeps no rule, so a container gets none. Before Kubernetes 1.34 it also refuses a
   * container with a restart policy of its own, so a container does not get that either.
   */
  readonly dropsRules: boolean;
}

/**
 * Restart rules as an API server accepts them. The protocol calls the restart of a whole Pod
 * `RestartPod`; Kubernetes has the same action as `RestartAllContainers`, so Jobs get that name. A
 * template without the old name is returned as it is. For `Terminate`, which Kubernetes does not
 * know, see `terminate-rules.ts`.
 */
export function translateRestartRules(template: PodTemplateSpec): PodTemplateSpec {
  const { containers, initContainers } = template.spec;
  if (![...containers, ...(initContainers ?? [])].some(usesRestartPod)) return template;
  return {
    ...template,
    spec: {
      ...template.spec,
      containers: containers.map(translateContainer),
      ...(initContainers === undefined
        ? {}
        : { initContainers: initContainers.map(translateContainer) }),
    },
  };
}

function usesRestartPod({ restartPolicyRules }: Container): boolean {
  return restartPolicyRules?.some(({ action }) => action === 'RestartPod') ?? false;
}

function translateContainer(container: Container): Container {
  const { restartPolicyRules } = container;
  if (restartPolicyRules === undefined) return container;
  return { ...container, restartPolicyRules: restartPolicyRules.map(translateRule) };
}

function translateRule(rule: ContainerRestartRule): ContainerRestartRule {
  return rule.action === 'RestartPod' ? { ...rule, action: 'RestartAllContainers' } : rule;
}
