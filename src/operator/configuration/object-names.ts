/** Names of the objects that an installed operator shares with its manifest. */
import {
  formatLabelSelector,
  labelRequirementsOf,
} from '@lockstep/kube/selectors/label-selector.ts';

/** The Service through which API servers call the webhooks. */
export const WEBHOOK_SERVICE_NAME = 'lockstep-webhook-service';

/** The Secret in which the replicas share the certificates of their webhooks. */
export const WEBHOOK_SECRET_NAME = 'lockstep-webhook-server-cert';

/** Upstream's lease, so that the two controllers never act at the same time in one namespace. */
export const LEADER_ELECTION_ID = '6d4f6a47.jobset.x-k8s.io';

/** The lease of an operator beside upstream's controller: both must act at the same time. */
export const ONLY_MANAGED_LEASE = 'lockstep-only-managed';

/** The Secret with the certificates of the hub. */
export const HUB_SECRET_NAME = 'lockstep-hub-server-cert';

/**
 * The Service, without a selector, that leads agents to the hub of the leader, and its
 * EndpointSlice.
 */
export const HUB_SERVICE_NAME = 'lockstep-hub';

/** The ConfigMap with the Configuration file of an installation. */
export const CONFIGURATION_NAME = 'lockstep-operator';

/** The ConfigMap in which the replicas keep the last file that was right. */
export const SETTINGS_RECORD_NAME = 'lockstep-operator-record';

/** On the Pods of an installed operator. */
export const OPERATOR_POD_LABELS = {
  'app.kubernetes.io/name': 'lockstep',
  'app.kubernetes.io/component': 'operator',
} as const;

/** The image of agents for which no setting names another. */
export function defaultAgentImage(version: string): string {
  return `lockstep/agent:${version}`;
}

/** Marks a ConfigMap with the hub's authorities as the operator's own. */
export const HUB_AUTHORITIES_LABELS = { 'app.kubernetes.io/managed-by': 'lockstep' } as const;
export const HUB_AUTHORITIES_SELECTOR = formatLabelSelector(
  labelRequirementsOf({ matchLabels: HUB_AUTHORITIES_LABELS }),
);

/**
 * Options of Node. By default V8 lets the space for young objects grow to 32 MiB, which the operator
 * hardly uses. With a group of a thousand agents this saves 20 MiB, and costs no CPU.
 */
export const OPERATOR_NODE_OPTIONS = '--max-semi-space-size=4';
