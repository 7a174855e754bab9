/** Schemas of `rbac.authorization.k8s.io/v1`: roles and their bindings. */

import { kind, LABEL_SELECTOR } from '../../kube/pod-schema/meta-schema.ts';
import { atomic, atomicList, definitions, nullable, string } from '../../kube/schema/builders.ts';

const rbac = definitions('io.k8s.api.rbac.v1');

const POLICY_RULE = rbac(
  'PolicyRule',
  {
    verbs: atomicList(string()),
    apiGroups: atomicList(string()),
    resources: atomicList(string()),
    resourceNames: atomicList(string()),
    nonResourceURLs: atomicList(string()),
  },
  { required: ['verbs'] },
);

export const ROLE = kind(rbac('Role', { rules: nullable(atomicList(POLICY_RULE)) }));

const AGGREGATION_RULE = rbac('AggregationRule', {
  clusterRoleSelectors: atomicList(LABEL_SELECTOR),
});

export const CLUSTER_ROLE = kind(
  rbac('ClusterRole', {
    rules: nullable(atomicList(POLICY_RULE)),
    aggregationRule: AGGREGATION_RULE,
  }),
);

const SUBJECT = atomic(
  rbac(
    'Subject',
    {
      kind: string(),
      apiGroup: string(),
      name: string(),
      namespace: string(),
    },
    { required: ['kind', 'name'] },
  ),
);

const ROLE_REF = atomic(
  rbac(
    'RoleRef',
    { apiGroup: string(), kind: string(), name: string() },
    { required: ['kind', 'name'] },
  ),
);

export const ROLE_BINDING = kind(
  rbac(
    'RoleBinding',
    { subjects: atomicList(SUBJECT), roleRef: ROLE_REF },
    { required: ['roleRef'] },
  ),
);

export const CLUSTER_ROLE_BINDING = kind(
  rbac(
    'ClusterRoleBinding',
    { subjects: atomicList(SUBJECT), roleRef: ROLE_REF },
    { required: ['roleRef'] },
  ),
);
