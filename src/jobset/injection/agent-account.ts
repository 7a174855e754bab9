/** The service account of a JobSet's agents, and so of their Pods. */
import type { PodTemplateSpec } from '../../kube/objects/pod.ts';
import { AGENT_ACCOUNT_SUFFIX } from '../names.ts';

/** The name of the account that is made for a JobSet, and of its Role and RoleBinding. */
export function agentAccountName(jobSet: string): string {
  return `${jobSet}${AGENT_ACCOUNT_SUFFIX}`;
}

/**
 * The account that a template names itself, if any. `serviceAccount` is the field's old name, which
 * counts if the new one is absent.
 */
export function accountOf({ spec }: PodTemplateSpec): string | undefined {
  return [spec.serviceAccountName, spec.serviceAccount].find((name) => (name ?? '') !== '');
}

/** The template with that account, unless it names one. */
export function withAgentAccount(template: PodTemplateSpec, jobSet: string): PodTemplateSpec {
  if (accountOf(template) !== undefined) return template;
  return { ...template, spec: { ...template.spec, serviceAccountName: agentAccountName(jobSet) } };
}
