/** The operator's webhooks of JobSets in a simulated world: they judge what users write. */
import {
  MUTATING_WEBHOOK_CONFIGURATIONS,
  VALIDATING_WEBHOOK_CONFIGURATIONS,
  type Webhook,
} from '@lockstep/kube/objects/admission-webhooks.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { handlerTransport } from '@lockstep/kube/runtime/memory/memory-transport.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import { DEFAULT_FEATURE_GATES } from '../../jobset/feature-gates.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import { admissionEndpoint } from '../../operator/webhooks/admission-endpoint.ts';
import {
  jobSetMutator,
  jobSetQuestions,
  jobSetValidator,
} from '../../operator/webhooks/jobset-webhooks.ts';
import {
  mutatingConfiguration,
  validatingConfiguration,
  WEBHOOK_PATHS,
} from '../../operator/webhooks/webhook-configurations.ts';

const ADDRESS = { kind: 'Url', url: 'https://webhooks' } as const;

/** Answers the API server's questions about JobSets. */
export function judgeOf(client: Client, clock: Clock): Transport {
  const questions = jobSetQuestions(client);
  const handlers = new Map([
    [WEBHOOK_PATHS.mutateJobSet as string, jobSetMutator(questions, DEFAULT_FEATURE_GATES)],
    [WEBHOOK_PATHS.validateJobSet, jobSetValidator(questions, DEFAULT_FEATURE_GATES)],
  ]);
  return handlerTransport(admissionEndpoint({ handlers, clock, logger: SILENT }));
}

/** From now on the API server asks about each new or changed JobSet. */
export async function installWebhooks(client: Client): Promise<void> {
  const settings = { address: ADDRESS, bundle: '' };
  const mutating = mutatingConfiguration(settings);
  await client.create(MUTATING_WEBHOOK_CONFIGURATIONS, {
    ...mutating,
    webhooks: mutating.webhooks?.filter(isAboutJobSets) ?? [],
  });
  const validating = validatingConfiguration(settings);
  await client.create(VALIDATING_WEBHOOK_CONFIGURATIONS, {
    ...validating,
    webhooks: validating.webhooks?.filter(isAboutJobSets) ?? [],
  });
}

function isAboutJobSets({ rules = [] }: Webhook): boolean {
  return rules.some(({ resources }) => resources.includes(JOBSETS.plural));
}
