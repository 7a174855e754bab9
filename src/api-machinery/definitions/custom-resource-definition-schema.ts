/**
 * Schemas of `apiextensions.k8s.io/v1 CustomResourceDefinition`. Whether the schemas inside it are
 * structural is checked in `structural.ts`.
 */

import { kind } from '../../kube/pod-schema/meta-schema.ts';
import {
  atomicList,
  boolean,
  bytes,
  definitions,
  int32,
  int64,
  listMap,
  nullable,
  oneOf,
  preserveUnknown,
  string,
  time,
} from '../../kube/schema/builders.ts';
import { JSON_SCHEMA_PROPS } from './json-schema-props-schema.ts';

const apiextensions = definitions('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1');

const CUSTOM_RESOURCE_DEFINITION_NAMES = apiextensions(
  'CustomResourceDefinitionNames',
  {
    plural: string(),
    singular: string(),
    shortNames: atomicList(string()),
    kind: string(),
    listKind: string(),
    categories: atomicList(string()),
  },
  { required: ['plural', 'kind'] },
);

const CUSTOM_RESOURCE_VALIDATION = apiextensions('CustomResourceValidation', {
  openAPIV3Schema: JSON_SCHEMA_PROPS,
});

const CUSTOM_RESOURCE_SUBRESOURCE_SCALE = apiextensions(
  'CustomResourceSubresourceScale',
  {
    specReplicasPath: string(),
    statusReplicasPath: string(),
    labelSelectorPath: string(),
  },
  { required: ['specReplicasPath', 'statusReplicasPath'] },
);

const CUSTOM_RESOURCE_SUBRESOURCES = apiextensions('CustomResourceSubresources', {
  status: preserveUnknown(),
  scale: CUSTOM_RESOURCE_SUBRESOURCE_SCALE,
});

const CUSTOM_RESOURCE_COLUMN_DEFINITION = apiextensions(
  'CustomResourceColumnDefinition',
  {
    name: string(),
    type: string(),
    format: string(),
    description: string(),
    priority: int32(),
    jsonPath: string(),
  },
  { required: ['name', 'type', 'jsonPath'] },
);

const SELECTABLE_FIELD = apiextensions(
  'SelectableField',
  { jsonPath: string() },
  { required: ['jsonPath'] },
);

const CUSTOM_RESOURCE_DEFINITION_VERSION = apiextensions(
  'CustomResourceDefinitionVersion',
  {
    name: string(),
    served: boolean(),
    storage: boolean(),
    deprecated: boolean(),
    deprecationWarning: string(),
    schema: CUSTOM_RESOURCE_VALIDATION,
    subresources: CUSTOM_RESOURCE_SUBRESOURCES,
    additionalPrinterColumns: atomicList(CUSTOM_RESOURCE_COLUMN_DEFINITION),
    selectableFields: atomicList(SELECTABLE_FIELD),
  },
  { required: ['name', 'served', 'storage'] },
);

const SERVICE_REFERENCE = apiextensions(
  'ServiceReference',
  {
    namespace: string(),
    name: string(),
    path: string(),
    port: int32(),
  },
  { required: ['namespace', 'name'] },
);

const WEBHOOK_CLIENT_CONFIG = apiextensions('WebhookClientConfig', {
  url: string(),
  service: SERVICE_REFERENCE,
  caBundle: bytes(),
});

const WEBHOOK_CONVERSION = apiextensions(
  'WebhookConversion',
  {
    clientConfig: WEBHOOK_CLIENT_CONFIG,
    conversionReviewVersions: atomicList(string()),
  },
  { required: ['conversionReviewVersions'] },
);

const CUSTOM_RESOURCE_CONVERSION = apiextensions(
  'CustomResourceConversion',
  {
    strategy: oneOf(['None', 'Webhook']),
    webhook: WEBHOOK_CONVERSION,
  },
  { required: ['strategy'] },
);

const CUSTOM_RESOURCE_DEFINITION_SPEC = apiextensions(
  'CustomResourceDefinitionSpec',
  {
    group: string(),
    names: CUSTOM_RESOURCE_DEFINITION_NAMES,
    scope: oneOf(['Cluster', 'Namespaced']),
    versions: atomicList(CUSTOM_RESOURCE_DEFINITION_VERSION),
    conversion: CUSTOM_RESOURCE_CONVERSION,
    preserveUnknownFields: boolean(),
  },
  { required: ['group', 'names', 'scope', 'versions'] },
);

const CUSTOM_RESOURCE_DEFINITION_CONDITION = apiextensions(
  'CustomResourceDefinitionCondition',
  {
    type: string(),
    status: string(),
    lastTransitionTime: time(),
    reason: string(),
    message: string(),
    observedGeneration: int64(),
  },
  { required: ['type', 'status'] },
);

const CUSTOM_RESOURCE_DEFINITION_STATUS = apiextensions('CustomResourceDefinitionStatus', {
  conditions: nullable(listMap(['type'], CUSTOM_RESOURCE_DEFINITION_CONDITION)),
  acceptedNames: CUSTOM_RESOURCE_DEFINITION_NAMES,
  storedVersions: atomicList(string()),
  observedGeneration: int64(),
});

export const CUSTOM_RESOURCE_DEFINITION = kind(
  apiextensions(
    'CustomResourceDefinition',
    {
      spec: CUSTOM_RESOURCE_DEFINITION_SPEC,
      status: CUSTOM_RESOURCE_DEFINITION_STATUS,
    },
    {
      required: ['spec'],
      description: 'A kind of objects that the cluster serves besides its own.',
    },
  ),
);
