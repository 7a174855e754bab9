import type { KubeObject } from '../meta.ts';
import { type Resource, resource } from '../resource.ts';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** `rbac.authorization.k8s.io/v1`: rights and their holders. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  /** Absent: all objects. */
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export interface ClusterRole extends KubeObject {
  readonly rules: readonly PolicyRule[];
}
export const CLUSTER_ROLES: Resource<ClusterRole> = resource(
  'rbac.authorization.k8s.io/v1',
  'clusterroles',
  'ClusterRole',
  'Cluster',
);

export interface ClusterRoleBinding extends KubeObject {
  readonly roleRef: RoleRef;
  readonly subjects: readonly Subject[];
}
export const CLUSTER_ROLE_BINDINGS: Resource<ClusterRoleBinding> = resource(
  'rbac.authorization.k8s.io/v1',
  'clusterrolebindings',
  'ClusterRoleBinding',
  'Cluster',
);

export interface Role extends KubeObject {
  readonly rules: readonly PolicyRule[];
}
export const ROLES: Resource<Role> = resource('rbac.authorization.k8s.io/v1', 'roles', 'Role');

export interface RoleBinding extends KubeObject {
  readonly roleRef: RoleRef;
  readonly subjects: readonly Subject[];
}
export const ROLE_BINDINGS: Resource<RoleBinding> = resource(
  'rbac.authorization.k8s.io/v1',
  'rolebindings',
  'RoleBinding',
);

export interface RoleRef {
  readonly apiGroup: 'rbac.authorization.k8s.io';
  readonly kind: 'Role' | 'ClusterRole';
  readonly name: string;
}

/** Users and groups have the API group, service accounts have none. */
export type Subject =
  | {
      readonly apiGroup: 'rbac.authorization.k8s.io';
      readonly kind: 'User' | 'Group';
      readonly name: string;
    }
  | { readonly kind: 'ServiceAccount'; readonly namespace: string; readonly name: string };
