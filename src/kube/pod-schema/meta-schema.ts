/** Schemas of `meta/v1`: what every object carries, and the vocabulary that all groups share. */

import {
  atomic,
  atomicList,
  boolean,
  definitions,
  described,
  int64,
  map,
  merged,
  mergeMap,
  type ObjectSchema,
  oneOf,
  preserveUnknown,
  set,
  string,
  time,
} from '../schema/builders.ts';
import type { JsonSchema } from '../schema/json-schema.ts';

const meta = definitions('io.k8s.apimachinery.pkg.apis.meta.v1');

const OWNER_REFERENCE = atomic(
  meta(
    'OwnerReference',
    {
      apiVersion: string(),
      kind: string(),
      name: string(),
      uid: string(),
      controller: boolean(),
      blockOwnerDeletion: boolean(),
    },
    { required: ['apiVersion', 'kind', 'name', 'uid'] },
  ),
);

const MANAGED_FIELDS_ENTRY = meta('ManagedFieldsEntry', {
  manager: string(),
  operation: string(),
  apiVersion: string(),
  time: time(),
  fieldsType: string(),
  fieldsV1: preserveUnknown(),
  subresource: string(),
});

export const OBJECT_META = meta('ObjectMeta', {
  name: string(),
  generateName: string(),
  namespace: string(),
  uid: string(),
  resourceVersion: string(),
  generation: int64(),
  creationTimestamp: time(),
  deletionTimestamp: time(),
  deletionGracePeriodSeconds: int64(),
  labels: map(string()),
  annotations: map(string()),
  ownerReferences: mergeMap(['uid'], OWNER_REFERENCE),
  finalizers: merged(set(string())),
  managedFields: atomicList(MANAGED_FIELDS_ENTRY),
});

export const LABEL_SELECTOR_REQUIREMENT = meta(
  'LabelSelectorRequirement',
  {
    key: string(),
    operator: oneOf(['In', 'NotIn', 'Exists', 'DoesNotExist']),
    values: atomicList(string()),
  },
  { required: ['key', 'operator'] },
);

export const LABEL_SELECTOR = atomic(
  meta('LabelSelector', {
    matchLabels: map(string()),
    matchExpressions: atomicList(LABEL_SELECTOR_REQUIREMENT),
  }),
);

export const CONDITION = meta(
  'Condition',
  {
    type: string(),
    status: string(),
    observedGeneration: int64(),
    lastTransitionTime: time(),
    reason: string(),
    message: string(),
  },
  { required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'] },
);

const PRECONDITIONS = meta('Preconditions', { uid: string(), resourceVersion: string() });

export const DELETE_OPTIONS = meta('DeleteOptions', {
  kind: string(),
  apiVersion: string(),
  gracePeriodSeconds: int64(),
  preconditions: PRECONDITIONS,
  orphanDependents: boolean(),
  propagationPolicy: string(),
  dryRun: atomicList(string()),
  ignoreStoreReadErrorWithClusterBreakingPotential: boolean(),
});

export const FIELD_SELECTOR_REQUIREMENT = meta(
  'FieldSelectorRequirement',
  {
    key: string(),
    operator: string(),
    values: atomicList(string()),
  },
  { required: ['key', 'operator'] },
);

/** An amount such as `500m` or `1Gi`. Numbers are accepted; the server stores the text. */
export const QUANTITY: JsonSchema = {
  title: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  oneOf: [{ type: 'string' }, { type: 'number' }],
};

/** The schema of a whole object: `schema` with `apiVersion`, `kind` and `metadata` before it. */
export function kind(schema: ObjectSchema): ObjectSchema {
  const properties = {
    apiVersion: string('The group and version of the API, such as batch/v1.'),
    kind: string('What the object is.'),
    metadata: described('Name, labels and what else every object has.', OBJECT_META),
    ...schema.properties,
  };
  return { ...schema, properties };
}
