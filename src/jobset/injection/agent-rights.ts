/**
 * What the agents of one JobSet may request from the API, and as whom: each follows its JobSet and
 * annotates its Pod. Names of Pods are not known beforehand, so the Role lets agents patch any Pod
 * of the namespace; the admission policy for agents restricts each to its own. A template that
 * names a service account keeps it, and that account gets the rights.
 */

import type { ObjectMeta, StringMap } from '../../kube/meta.ts';
import type { ServiceAccount } from '../../kube/objects/core.ts';
import type { Job } from '../../kube/objects/job.ts';
import {
  RBAC_GROUP,
  ROLES,
  type Role,
  type RoleBinding,
  type Subject,
} from '../../kube/objects/rbac.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { type JobSetIdentity, ownerReferenceTo } from '../child-jobs/job-template.ts';
import type { DefaultedSpec } from '../defaults.ts';
import { JOBSETS } from '../jobset.ts';
import { ENV_AGENT_CHANNEL, JOBSET_NAME, REPLICATED_JOB_NAME } from '../names.ts';
import { isTrue } from '../status/conditions.ts';
import { accountOf, agentAccountName } from './agent-account.ts';
import type { HubAccess } from './agent-hub.ts';
import { wantsAgents } from './agent-mode.ts';
import { templateAgent } from './template-agent.ts';

export interface AgentRights {
  /** Undefined if every template that gets an agent names an account of its own. */
  readonly serviceAccount: ServiceAccount | undefined;
  /** The rights of that account; undefined if agents use only the hub, and need none. */
  readonly granted: { readonly role: Role; readonly binding: RoleBinding } | undefined;
}

/**
 * Undefined for a JobSet without injected agents: agents of its own templates have rights of their
 * own.
 */
export function agentRights(
  jobSet: JobSetIdentity,
  spec: DefaultedSpec,
  annotations: StringMap | undefined,
  hub: Pick<HubAccess, 'channel'> | undefined,
): AgentRights | undefined {
  if (!wantsAgents(spec, annotations)) return undefined;
  const name = agentAccountName(jobSet.name);
  const accounts = new Set(
    spec.replicatedJobs
      .map(({ template }) => template.spec.template)
      .filter((template) => templateAgent(template) === undefined)
      .map((template) => accountOf(template) ?? name),
  );
  if (accounts.size === 0) return undefined;
  const { namespace } = jobSet;
  const metadata: ObjectMeta = {
    name,
    namespace,
    labels: { [JOBSET_NAME]: jobSet.name },
    ownerReferences: [ownerReferenceTo(jobSet)],
  };
  const apiVersion = apiVersionOf(ROLES);
  const serviceAccount: ServiceAccount | undefined = accounts.has(name)
    ? { apiVersion: 'v1', kind: 'ServiceAccount', metadata }
    : undefined;
  if (hub?.channel === 'Hub') return { serviceAccount, granted: undefined };
  const role = { apiVersion, kind: 'Role', metadata, rules: agentRules([jobSet.name]) };
  const binding: RoleBinding = {
    apiVersion,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: RBAC_GROUP, kind: 'Role', name },
    subjects: [...accounts].sort().map((account): Subject => {
      return { kind: 'ServiceAccount', namespace, name: account };
    }),
  };
  return { serviceAccount, granted: { role, binding } };
}

/**
 * Whether Pods of the Job may use the rights of `agentRights` at the API server: an agent that is
 * not limited to the hub falls back to it, even if new agents are.
 */
export function mayUseAgentRights(
  { metadata, spec, status }: Job,
  { replicatedJobs }: DefaultedSpec,
): boolean {
  if (isTrue(status?.conditions, 'Complete') || isTrue(status?.conditions, 'Failed')) return false;
  const from = replicatedJobs.find(({ name }) => name === metadata.labels?.[REPLICATED_JOB_NAME]);
  const bringsOwn = from !== undefined && templateAgent(from.template.spec.template) !== undefined;
  if (bringsOwn) return false;
  const agent = templateAgent(spec.template);
  const channel = agent?.env?.find(({ name }) => name === ENV_AGENT_CHANNEL)?.value;
  return agent !== undefined && channel !== 'Hub';
}

/** Everything that an agent requests, for JobSets with these names. */
export function agentRules(jobSets: readonly string[]): Role['rules'] {
  const { group, plural } = JOBSETS;
  return [
    { apiGroups: [''], resources: ['pods'], verbs: ['patch'] },
    { apiGroups: [group], resources: [plural], resourceNames: jobSets, verbs: ['list', 'watch'] },
  ];
}
