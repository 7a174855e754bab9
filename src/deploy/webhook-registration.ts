/** The webhook configurations of an installation. */
import type { Webhook } from '@lockstep/kube/objects/admission-webhooks.ts';
import {
  MUTATING_WEBHOOK_CONFIGURATIONS,
  VALIDATING_WEBHOOK_CONFIGURATIONS,
} from '@lockstep/kube/objects/admission-webhooks.ts';
import { settingValues } from '../operator/configuration/setting-values.ts';
import {
  mutatingConfiguration,
  validatingConfiguration,
} from '../operator/webhooks/webhook-configurations.ts';
import { type InstallationSettings, type Installed, installed } from './settings.ts';

/**
 * They have no authority to trust: the operator makes its certificates and writes that field when
 * it serves. Applying this again leaves the field as it is.
 */
export function webhookRegistration(settings: InstallationSettings): readonly Installed[] {
  const { namespace, watchNamespaces, configuration, onlyManaged } = settings;
  const { webhookService: name } = settingValues(configuration);
  const address = { kind: 'Service', namespace, name } as const;
  const namespaces = watchNamespaces.length === 0 ? undefined : watchNamespaces;
  const how = { address, bundle: '', namespaces, onlyManaged };
  const mutating = mutatingConfiguration(how);
  const validating = validatingConfiguration(how);
  return [
    installed(MUTATING_WEBHOOK_CONFIGURATIONS, mutating.metadata, {
      webhooks: (mutating.webhooks ?? []).map(withoutTrust),
    }),
    installed(VALIDATING_WEBHOOK_CONFIGURATIONS, validating.metadata, {
      webhooks: (validating.webhooks ?? []).map(withoutTrust),
    }),
  ];
}

function withoutTrust<W extends Webhook>(webhook: W): W {
  const { caBundle: _caBundle, ...clientConfig } = webhook.clientConfig;
  return { ...webhook, clientConfig };
}
