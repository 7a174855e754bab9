import { pathSegmentErrors } from '@lockstep/kube/name-rules.ts';
import { resource } from '@lockstep/kube/resource.ts';
import { listAt, type StoredObject, textAt } from '../resources/api-object.ts';
import type { BuiltInKind } from '../resources/built-in-kind.ts';
import { ageOf, type TableLayout } from '../resources/table-layout.ts';

/** Roles and bindings are kept and shown; nothing is decided by them yet. */
const API_VERSION = 'rbac.authorization.k8s.io/v1';

const ROLE_TABLE: TableLayout = {
  columns: [
    { name: 'Name', type: 'string', format: 'name' },
    { name: 'Created At', type: 'date' },
  ],
  cells: ({ metadata }) => [metadata.name, metadata.creationTimestamp],
};

const BINDING_TABLE: TableLayout = {
  columns: [
    { name: 'Name', type: 'string', format: 'name' },
    { name: 'Role', type: 'string' },
    { name: 'Age', type: 'string' },
    { name: 'Users', type: 'string', priority: 1 },
    { name: 'Groups', type: 'string', priority: 1 },
    { name: 'ServiceAccounts', type: 'string', priority: 1 },
  ],
  cells: (binding, nowMs) => [
    binding.metadata.name,
    roleOf(binding),
    ageOf(binding, nowMs),
    subjectsOf(binding, 'User'),
    subjectsOf(binding, 'Group'),
    subjectsOf(binding, 'ServiceAccount'),
  ],
};

export const RBAC_KINDS: readonly BuiltInKind[] = [
  rbacKind('roles', 'Role', 'Namespaced', ROLE_TABLE),
  rbacKind('rolebindings', 'RoleBinding', 'Namespaced', BINDING_TABLE),
  rbacKind('clusterroles', 'ClusterRole', 'Cluster', ROLE_TABLE),
  rbacKind('clusterrolebindings', 'ClusterRoleBinding', 'Cluster', BINDING_TABLE),
];

function rbacKind(
  plural: string,
  kind: string,
  scope: 'Namespaced' | 'Cluster',
  table: TableLayout,
): BuiltInKind {
  return {
    resource: resource(API_VERSION, plural, kind, scope),
    table,
    strategy: { createsOnUpdate: true, nameRule: pathSegmentErrors },
  };
}

function roleOf(binding: StoredObject): string {
  return `${textAt(binding, 'roleRef', 'kind')}/${textAt(binding, 'roleRef', 'name')}`;
}

function subjectsOf(binding: StoredObject, kind: string): string {
  return listAt(binding, 'subjects')
    .filter((subject) => textAt(subject, 'kind') === kind)
    .map((subject) => {
      const name = textAt(subject, 'name');
      return kind === 'ServiceAccount' ? `${textAt(subject, 'namespace')}/${name}` : name;
    })
    .join(', ');
}
