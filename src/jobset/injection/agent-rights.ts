/**
 * The rights of an agent that uses the API server: it follows its JobSet and annotates its Pod, as
 * the Pod's own account. The owner of the account gives it the rights, or lets the operator do so:
 * a Role, bound to each account that a template names. The account `default` gets none, because all
 * Pods of a namespace share it. Names of Pods are not known beforehand, so the Role lets agents
 * patch any Pod of the namespace; the admission policy for agents restricts each to its own.
 */
import type { ObjectMeta, StringMap } from '@lockstep/kube/meta.ts';
import type { PodTemplateSpec } from '@lockstep/kube/objects/pod.ts';
import {
  RBAC_GROUP,
  ROLES,
  type Role,
  type RoleBinding,
  type Subject,
} from '@lockstep/kube/objects/rbac.ts';
import { apiVersionOf } from '@lockstep/kube/resource.ts';
import type { DefaultedSpec } from '../defaults.ts';
import { JOBSETS } from '../jobset.ts';
import { type JobSetIdentity, ownerReferenceTo } from '../membership.ts';
import { AGENT_ACCOUNT_SUFFIX, JOBSET_NAME } from '../names.ts';
import { hubAccess } from './agent-hub.ts';
import { type AgentProgram, wantsAgents } from './agent-mode.ts';
import { templateAgent } from './template-agent.ts';

export interface AgentRights {
  readonly role: Role;
  readonly binding: RoleBinding;
}

/** Every namespace has it, and Pods that name no account use it. */
const DEFAULT_ACCOUNT = 'default';

/**
 * The name of the Role and the RoleBinding of a JobSet's agents, and of the account that earlier
 * versions made for them.
 */
export function agentRightsName(jobSet: string): string {
  return `${jobSet}${AGENT_ACCOUNT_SUFFIX}`;
}

/** Undefined if the operator gives no account any rights for this JobSet. */
export function agentRights(
  jobSet: JobSetIdentity,
  spec: DefaultedSpec,
  annotations: StringMap | undefined,
  { hub, grantsRights = false }: Pick<AgentProgram, 'hub' | 'grantsRights'>,
): AgentRights | undefined {
  const isHubAlone = hubAccess(hub, annotations)?.channel === 'Hub';
  if (!grantsRights || isHubAlone || !wantsAgents(spec, annotations)) return undefined;
  const accounts = new Set(
    spec.replicatedJobs
      .map(({ template }) => template.spec.template)
      .filter((template) => templateAgent(template) === undefined)
      .map((template) => accountOf(template) ?? DEFAULT_ACCOUNT)
      .filter((name) => name !== DEFAULT_ACCOUNT),
  );
  if (accounts.size === 0) return undefined;
  const { namespace } = jobSet;
  const name = agentRightsName(jobSet.name);
  const metadata: ObjectMeta = {
    name,
    namespace,
    labels: { [JOBSET_NAME]: jobSet.name },
    ownerReferences: [ownerReferenceTo(jobSet)],
  };
  const apiVersion = apiVersionOf(ROLES);
  return {
    role: { apiVersion, kind: 'Role', metadata, rules: agentRules([jobSet.name]) },
    binding: {
      apiVersion,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: RBAC_GROUP, kind: 'Role', name },
      subjects: [...accounts].sort().map((account): Subject => {
        return { kind: 'ServiceAccount', namespace, name: account };
      }),
    },
  };
}

/**
 * The account that a template names, if any. `serviceAccount` is the field's old name, which counts
 * if the new one is absent.
 */
function accountOf({ spec }: PodTemplateSpec): string | undefined {
  return [spec.serviceAccountName, spec.serviceAccount].find((name) => (name ?? '') !== '');
}

/** Everything that an agent requests, for JobSets with these names. */
export function agentRules(jobSets: readonly string[]): Role['rules'] {
  const { group, plural } = JOBSETS;
  return [
    { apiGroups: [''], resources: ['pods'], verbs: ['patch'] },
    { apiGroups: [group], resources: [plural], resourceNames: jobSets, verbs: ['list', 'watch'] },
  ];
}
