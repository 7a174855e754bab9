/** The built-in kind CustomResourceDefinition. */

import type { Condition } from '@lockstep/kube/meta.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '@lockstep/kube/objects/custom-resource-definition.ts';
import { timeText } from '@lockstep/kube/time.ts';
import {
  customResourceDefinitionErrors,
  customResourceDefinitionUpdateErrors,
  defaultCustomResourceDefinition,
} from '../../../api-machinery/definitions/custom-resource-definition.ts';
import { typed } from '../resources/api-object.ts';
import type { BuiltInKind } from '../resources/built-in-kind.ts';

/** Keeps a definition in deletion until its objects are gone. */
export const OBJECTS_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

function terminating(now: string): Condition {
  return {
    type: 'Terminating',
    status: 'True',
    lastTransitionTime: now,
    reason: 'InstanceDeletionPending',
    message:
      'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  };
}

/** `custom-resource-controller.ts` carries the definitions out. */
export const CUSTOM_RESOURCE_DEFINITION_KIND: BuiltInKind = {
  resource: CUSTOM_RESOURCE_DEFINITIONS,
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
    defaults: defaultCustomResourceDefinition,
    prepareForCreate: (definition) => {
      const status = { conditions: null, acceptedNames: { plural: '', kind: '' } };
      return defaultCustomResourceDefinition({ ...definition, status });
    },
    prepareForUpdate: (definition) => defaultCustomResourceDefinition(definition),
    deletion: {
      begin: (definition, nowMs) => {
        const finalizers = [...(definition.metadata.finalizers ?? []), OBJECTS_FINALIZER];
        const { status, ...rest } = typed<CustomResourceDefinition>(definition);
        const conditions = [...(status?.conditions ?? []), terminating(timeText(nowMs))];
        return {
          ...rest,
          metadata: { ...definition.metadata, finalizers: [...new Set(finalizers)] },
          status: { ...status, conditions },
        };
      },
    },
    validate: (definition) => customResourceDefinitionErrors(typed(definition)),
    validateUpdate: (definition, old, subresource) =>
      subresource === undefined
        ? customResourceDefinitionUpdateErrors(typed(definition), typed(old))
        : [],
  },
};
