/** The webhook configurations that the operator installs when it serves. */
import {
  MUTATING_WEBHOOK_CONFIGURATIONS,
  VALIDATING_WEBHOOK_CONFIGURATIONS,
  type Webhook,
} from '@lockstep/kube/objects/admission-webhooks.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { unlessRefused } from '@lockstep/kube/runtime/client/unless-refused.ts';
import type { StatusReason } from '@lockstep/kube/status.ts';
import {
  MUTATING_CONFIGURATION_NAME,
  VALIDATING_CONFIGURATION_NAME,
} from '../operator/webhooks/webhook-configurations.ts';

export const WEBHOOK_CONFIGURATIONS = [
  [MUTATING_WEBHOOK_CONFIGURATIONS, MUTATING_CONFIGURATION_NAME],
  [VALIDATING_WEBHOOK_CONFIGURATIONS, VALIDATING_CONFIGURATION_NAME],
] as const;

/** The webhooks of both configurations; none of one that is absent, or refused for these reasons. */
export async function readWebhooks(
  client: Client,
  signal: AbortSignal,
  ...reasons: readonly StatusReason[]
): Promise<readonly Webhook[]> {
  const found = await Promise.all(
    WEBHOOK_CONFIGURATIONS.map(([of, name]) =>
      unlessRefused(client.get(of, { name }, { signal }), 'NotFound', ...reasons),
    ),
  );
  return found.flatMap((one): readonly Webhook[] => one?.webhooks ?? []);
}
