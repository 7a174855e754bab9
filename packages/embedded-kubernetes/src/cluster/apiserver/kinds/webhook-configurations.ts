/** The built-in kinds for configurations of admission webhooks. */

import {
  MUTATING_WEBHOOK_CONFIGURATIONS,
  VALIDATING_WEBHOOK_CONFIGURATIONS,
} from '@lockstep/kube/objects/admission-webhooks.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import {
  defaultWebhookConfiguration,
  webhookConfigurationErrors,
  webhookConfigurationUpdateErrors,
} from '../../../api-machinery/validation/webhook-configuration.ts';
import { listAt, typed } from '../resources/api-object.ts';
import type { BuiltInKind } from '../resources/built-in-kind.ts';
import { ageOf, type TableLayout } from '../resources/table-layout.ts';

const TABLE: TableLayout = {
  columns: [
    { name: 'Name', type: 'string', format: 'name' },
    {
      name: 'Webhooks',
      type: 'integer',
      description: 'Webhooks indicates the number of webhooks configured in this configuration',
    },
    { name: 'Age', type: 'string' },
  ],
  cells: (configuration, nowMs) => [
    configuration.metadata.name,
    listAt(configuration, 'webhooks').length,
    ageOf(configuration, nowMs),
  ],
};

/** The server calls the webhooks that are configured here. */
export const WEBHOOK_CONFIGURATION_KINDS: readonly BuiltInKind[] = [
  configurationKind(MUTATING_WEBHOOK_CONFIGURATIONS),
  configurationKind(VALIDATING_WEBHOOK_CONFIGURATIONS),
];

function configurationKind(resource: Resource): BuiltInKind {
  return {
    resource,
    categories: ['api-extensions'],
    strategy: {
      countsGeneration: true,
      requiresRevision: true,
      prepareForCreate: defaultWebhookConfiguration,
      prepareForUpdate: defaultWebhookConfiguration,
      validate: (configuration) => webhookConfigurationErrors(typed(configuration)),
      validateUpdate: (configuration, old) =>
        webhookConfigurationUpdateErrors(typed(configuration), typed(old)),
    },
    table: TABLE,
  };
}
