/**
 * The operator's rights, as few as it needs. Every rule gives its reason, and a test compares all
 * requests of a full run with the rules. Some rights the operator never uses itself: Kubernetes
 * allows it to grant only rights that it holds.
 */

import { SERVICE_ACCOUNTS } from '@lockstep/kube/objects/core.ts';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  type PolicyRule,
  RBAC_GROUP,
  ROLE_BINDINGS,
  ROLES,
} from '@lockstep/kube/objects/rbac.ts';
import { JOBSETS } from '../jobset/jobset.ts';
import { HUB_AUTHORITIES_NAME } from '../jobset/names.ts';
import { JOBSET_CRD } from '../jobset/schema/crd.ts';
import {
  CONFIGURATION_NAME,
  HUB_SECRET_NAME,
  HUB_SERVICE_NAME,
  LEADER_ELECTION_ID,
  ONLY_MANAGED_LEASE,
  SETTINGS_RECORD_NAME,
  WEBHOOK_SECRET_NAME,
} from '../operator/configuration/object-names.ts';
import { settingValues } from '../operator/configuration/setting-values.ts';
import {
  MUTATING_CONFIGURATION_NAME,
  VALIDATING_CONFIGURATION_NAME,
} from '../operator/webhooks/webhook-configurations.ts';
import { type InstallationSettings, type Installed, installed } from './settings.ts';

export interface ReasonedRule extends PolicyRule {
  readonly why: string;
  /** Absent: the operator's own requests need it. */
  readonly heldTo?: 'GrantToAgents' | 'OwnChildren';
  /** `Cluster`: for cluster-scoped resources. Absent: needed only in namespaces with JobSets. */
  readonly scope?: 'Cluster';
}

export const OPERATOR_NAME = 'lockstep-operator';
/** Names the Role and RoleBinding in each namespace of a confined operator. */
export const CONFINED_NAME = 'lockstep-operator-jobsets';
/** For the scraper of the operator's metrics; not bound here. */
export const METRICS_READER_NAME = 'lockstep-metrics-reader';

/**
 * In all namespaces. If the operator is confined, only rules of scope `Cluster` are cluster-wide.
 */
export const CLUSTER_RULES: readonly ReasonedRule[] = [
  rule(JOBSETS.group, ['jobsets'], ['get', 'list', 'watch', 'delete'], {
    why: 'follows them; deletes those whose time to live is over',
  }),
  rule(JOBSETS.group, ['jobsets/status'], ['update'], { why: 'reports what it decided' }),
  rule(JOBSETS.group, ['jobsets/finalizers'], ['update'], {
    why: 'clusters with OwnerReferencesPermissionEnforcement require it to make owned objects',
    heldTo: 'OwnChildren',
  }),
  rule('batch', ['jobs'], ['get', 'list', 'watch', 'create', 'patch', 'delete'], {
    why: 'makes, suspends, resizes, relabels and recreates the Jobs of a JobSet',
  }),
  rule('batch', ['jobs/status'], ['patch'], {
    why: 'clears startTime of a suspended Job whose template changes',
  }),
  rule('', ['services'], ['list', 'watch', 'create'], {
    why: 'makes the headless Service of a JobSet',
  }),
  rule('', ['persistentvolumeclaims'], ['get', 'list', 'watch', 'create'], {
    why: 'makes the volume claims that the Jobs of a JobSet share',
  }),
  rule('', ['pods'], ['get', 'list', 'watch', 'delete'], {
    why: 'counts members, finds out why one failed, removes Pods at a wrong place, and those of lost nodes',
  }),
  rule('', ['pods/status'], ['patch'], {
    why: 'says why such a Pod is removed, and that one of a lost node has failed',
  }),
  rule('', ['nodes'], ['get', 'list'], {
    why: 'reads the topology of the node of a leader; asks what nodes can, and uses no more',
    scope: 'Cluster',
  }),
  rule('apiextensions.k8s.io', ['customresourcedefinitions'], ['list', 'watch'], {
    why: 'sees which fields of the status of JobSets are kept',
    scope: 'Cluster',
    resourceNames: [JOBSET_CRD.metadata.name ?? ''],
  }),
  rule('', ['namespaces'], ['get'], {
    why: 'reads which defaults the JobSets of a Namespace have, and keeps only annotations of ours',
  }),
  rule('', ['limitranges'], ['list'], {
    why: 'takes the share of a sidecar agent from its worker, unless that would fall below a minimum',
  }),
  rule('', ['configmaps'], ['list', 'watch', 'update'], {
    why: 'keeps the authorities of the hub up to date in each namespace with a group',
    resourceNames: [HUB_AUTHORITIES_NAME],
  }),
  rule('', ['configmaps'], ['create'], { why: 'makes that ConfigMap' }),
  rule('events.k8s.io', ['events'], ['create', 'patch'], { why: 'tells users' }),
  rule('authentication.k8s.io', ['tokenreviews'], ['create'], {
    why: 'asks whose token a reader of metrics shows, and an agent where the keys of the cluster cannot be read',
    scope: 'Cluster',
  }),
  rule('authorization.k8s.io', ['subjectaccessreviews'], ['create'], {
    why: 'asks whether a reader of metrics may',
    scope: 'Cluster',
  }),
];

/** Only for an operator that gives rights to accounts that templates name, wherever it acts. */
export const AGENT_RIGHTS_RULES: readonly ReasonedRule[] = [
  rule('', ['pods'], ['patch'], { why: 'agents annotate their Pods', heldTo: 'GrantToAgents' }),
  rule(RBAC_GROUP, ['roles', 'rolebindings'], ['get', 'create', 'update'], {
    why: 'gives these accounts the rights of an agent, and mends them',
  }),
];

/** Only for the two configurations that are installed with it. */
export const WEBHOOK_RULES: readonly ReasonedRule[] = [
  webhookRule('mutatingwebhookconfigurations', MUTATING_CONFIGURATION_NAME),
  webhookRule('validatingwebhookconfigurations', VALIDATING_CONFIGURATION_NAME),
];

/** In its own namespace. Creations cannot be restricted to a name. */
export const NAMESPACE_RULES: readonly ReasonedRule[] = [
  rule('', ['secrets'], ['get', 'list', 'watch', 'update'], {
    why: 'shares the certificates that it makes with its replicas',
    resourceNames: [WEBHOOK_SECRET_NAME, HUB_SECRET_NAME],
  }),
  rule('', ['secrets'], ['create'], { why: 'makes the first of them' }),
  rule('coordination.k8s.io', ['leases'], ['get', 'list', 'watch', 'update'], {
    why: 'one replica leads, and the others see at once when it has ended',
    resourceNames: [LEADER_ELECTION_ID],
  }),
  rule('coordination.k8s.io', ['leases'], ['create'], { why: 'makes the lease' }),
  rule('discovery.k8s.io', ['endpointslices'], ['get', 'update', 'delete'], {
    why: 'leads the Service of the hub to the replica that leads',
    resourceNames: [HUB_SERVICE_NAME],
  }),
  rule('discovery.k8s.io', ['endpointslices'], ['create'], { why: 'makes the first of them' }),
  rule('', ['configmaps'], ['get', 'update'], {
    why: 'keeps the last settings that were right, and whose turn it is to restart',
    resourceNames: [SETTINGS_RECORD_NAME],
  }),
  rule('', ['configmaps'], ['create'], { why: 'makes that ConfigMap' }),
  rule('', ['configmaps'], ['get'], {
    why: 'tells of wrong settings there',
    resourceNames: [CONFIGURATION_NAME],
  }),
  rule('events.k8s.io', ['events'], ['create', 'patch'], { why: 'tells users of wrong settings' }),
  rule('', ['pods'], ['list'], {
    why: 'restarts with changed settings only while its other replicas are ready',
  }),
];

/** Accounts, roles and bindings of the operator, and roles for people. */
export function permissions(settings: InstallationSettings): readonly Installed[] {
  const { namespace, watchNamespaces, webhooks, configuration } = settings;
  const { agentRights } = settingValues(configuration);
  const metadata = { name: OPERATOR_NAME };
  const local = { namespace, name: OPERATOR_NAME };
  const metricsReader = { name: METRICS_READER_NAME };
  const subjects = [{ kind: 'ServiceAccount', ...local }];
  const roleRef = (kind: string, name = OPERATOR_NAME) => ({ apiGroup: RBAC_GROUP, kind, name });
  const isEverywhere = watchNamespaces.length === 0;
  const all = [...CLUSTER_RULES, ...(agentRights ? AGENT_RIGHTS_RULES : [])];
  const everywhere = all.filter(({ scope }) => isEverywhere || scope === 'Cluster');
  const confined = all.filter(({ scope }) => scope !== 'Cluster').map(plain);
  const rules = [...everywhere, ...(webhooks ? WEBHOOK_RULES : [])].map(plain);
  return [
    installed(SERVICE_ACCOUNTS, local),
    installed(CLUSTER_ROLES, metadata, { rules }),
    installed(CLUSTER_ROLE_BINDINGS, metadata, { roleRef: roleRef('ClusterRole'), subjects }),
    installed(ROLES, local, { rules: ownRules(settings) }),
    installed(ROLE_BINDINGS, local, { roleRef: roleRef('Role'), subjects }),
    ...watchNamespaces.flatMap((watched) => {
      const there = { namespace: watched, name: CONFINED_NAME };
      return [
        installed(ROLES, there, { rules: confined }),
        installed(ROLE_BINDINGS, there, { roleRef: roleRef('Role', CONFINED_NAME), subjects }),
      ];
    }),
    personRole(
      'editor',
      ['admin', 'edit'],
      [
        { resources: ['jobsets'], verbs: [...READ, 'create', 'update', 'patch', ...DELETE] },
        { resources: ['jobsets/status'], verbs: ['get'] },
      ],
    ),
    installed(CLUSTER_ROLES, metricsReader, {
      rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
    }),
    personRole('viewer', ['view'], [{ resources: ['jobsets', 'jobsets/status'], verbs: READ }]),
  ];
}

/** About the objects whose names the settings give. */
function ownRules({ configuration, onlyManaged }: InstallationSettings): readonly PolicyRule[] {
  const { webhookSecretName, leaderElectionId } = settingValues(configuration);
  const given = new Map([
    [WEBHOOK_SECRET_NAME, webhookSecretName],
    [LEADER_ELECTION_ID, onlyManaged ? ONLY_MANAGED_LEASE : leaderElectionId],
  ]);
  return NAMESPACE_RULES.map(plain).map(({ resourceNames, ...others }) => ({
    ...others,
    ...(resourceNames && { resourceNames: resourceNames.map((name) => given.get(name) ?? name) }),
  }));
}

const READ = ['get', 'list', 'watch'];
const DELETE = ['delete', 'deletecollection'];

/** Aggregated into the cluster's own roles of that name. */
function personRole(
  name: string,
  aggregateTo: readonly string[],
  rules: readonly Omit<PolicyRule, 'apiGroups'>[],
): Installed {
  const labels = Object.fromEntries(
    aggregateTo.map((role) => [`rbac.authorization.k8s.io/aggregate-to-${role}`, 'true']),
  );
  const metadata = { name: `lockstep-jobset-${name}`, labels };
  const ours = rules.map((one) => ({ apiGroups: [JOBSETS.group], ...one }));
  return installed(CLUSTER_ROLES, metadata, { rules: ours });
}

function webhookRule(resource: string, name: string): ReasonedRule {
  const verbs = ['get', 'list', 'watch', 'update'];
  const why = 'tells API servers which authority to trust';
  return rule('admissionregistration.k8s.io', [resource], verbs, { why, resourceNames: [name] });
}

function rule(
  apiGroup: string,
  resources: readonly string[],
  verbs: readonly string[],
  more: Omit<ReasonedRule, 'apiGroups' | 'resources' | 'verbs'>,
): ReasonedRule {
  return { apiGroups: [apiGroup], resources, verbs, ...more };
}

function plain({ why: _why, heldTo: _heldTo, scope: _scope, ...rest }: ReasonedRule): PolicyRule {
  return rest;
}
