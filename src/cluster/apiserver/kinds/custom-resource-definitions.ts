import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../kube/custom-resource-definition.ts';
import { CUSTOM_RESOURCE_DEFINITION } from '../../../kube/schema/custom-resource-definition-schema.ts';
import type { BuiltInKind } from '../built-in-kind.ts';

export const CUSTOM_RESOURCE_DEFINITION_KIND: BuiltInKind = {
  resource: CUSTOM_RESOURCE_DEFINITIONS,
  schema: CUSTOM_RESOURCE_DEFINITION,
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  hasStatus: true,
  strategy: { countsGeneration: true, requiresRevision: true },
};
