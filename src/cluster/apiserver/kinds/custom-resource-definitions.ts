import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../kube/custom-resource-definition.ts';
import { CUSTOM_RESOURCE_DEFINITION } from '../../../kube/schema/custom-resource-definition-schema.ts';
import {
  customResourceDefinitionErrors,
  customResourceDefinitionUpdateErrors,
  defaultCustomResourceDefinition,
} from '../../../kube/validation/custom-resource-definition.ts';
import { typed } from '../api-object.ts';
import type { BuiltInKind } from '../built-in-kind.ts';

/** `custom-resource-controller.ts` makes the definitions real. */
export const CUSTOM_RESOURCE_DEFINITION_KIND: BuiltInKind = {
  resource: CUSTOM_RESOURCE_DEFINITIONS,
  schema: CUSTOM_RESOURCE_DEFINITION,
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  hasStatus: true,
  table: {
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Created At', type: 'date' },
    ],
    cells: ({ metadata }) => [metadata.name, metadata.creationTimestamp],
  },
  strategy: {
    countsGeneration: true,
    requiresRevision: true,
    prepareForCreate: (definition) => {
      const status = { conditions: [], acceptedNames: { plural: '', kind: '' } };
      return defaultCustomResourceDefinition({ ...definition, status });
    },
    prepareForUpdate: (definition) => defaultCustomResourceDefinition(definition),
    validate: (definition) => customResourceDefinitionErrors(typed(definition)),
    validateUpdate: (definition, old, subresource) =>
      subresource === undefined
        ? customResourceDefinitionUpdateErrors(typed(definition), typed(old))
        : [],
  },
};
