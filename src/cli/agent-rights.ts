import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  type ClusterRole,
  type ClusterRoleBinding,
} from '../kube/rbac.ts';
import { isReason } from '../kube/status.ts';
import type { Client } from '../runtime/client.ts';

const NAME = 'lockstep-agent';

/** What an agent asks of the API: its Pod's annotations, and the JobSet that it follows. */
const ROLE: ClusterRole = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: NAME },
  rules: [
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'patch'] },
    { apiGroups: ['jobset.x-k8s.io'], resources: ['jobsets'], verbs: ['get', 'list', 'watch'] },
  ],
};

/** Agents use the service account of their Pod, whichever that is. */
const BINDING: ClusterRoleBinding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: NAME },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: NAME },
  subjects: [
    { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:serviceaccounts' },
  ],
};

/** Lets the agents of all Pods of the cluster do their work. */
export async function grantAgentRights(client: Client): Promise<void> {
  await unlessReason('AlreadyExists', client.create(CLUSTER_ROLES, ROLE));
  await unlessReason('AlreadyExists', client.create(CLUSTER_ROLE_BINDINGS, BINDING));
}

export async function withdrawAgentRights(client: Client): Promise<void> {
  await unlessReason('NotFound', client.delete(CLUSTER_ROLE_BINDINGS, { name: NAME }));
  await unlessReason('NotFound', client.delete(CLUSTER_ROLES, { name: NAME }));
}

async function unlessReason(
  reason: 'AlreadyExists' | 'NotFound',
  request: Promise<unknown>,
): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!isReason(error, reason)) throw error;
  }
}
