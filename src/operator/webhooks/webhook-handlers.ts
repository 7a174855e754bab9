/** Which decision stands behind the path of each webhook. */

import type { FeatureGates } from '../../jobset/feature-gates.ts';
import type { AgentDefaults } from '../../jobset/injection/agent-defaults.ts';
import type { ContainerResources } from '../../jobset/injection/agent-resources.ts';
import type { SizeLimits } from '../../jobset/size-limits.ts';
import { defined } from '../../kube/json/defined.ts';
import type { PodLookups } from '../pod-placement/pod-lookups.ts';
import type { AdmissionHandler } from './admission-handler.ts';
import { type JobSetQuestions, jobSetMutator, jobSetValidator } from './jobset-webhooks.ts';
import { nodeAvoider, podMutator, podValidator } from './pod-webhooks.ts';
import { WEBHOOK_PATHS } from './webhook-configurations.ts';

/** The settings of webhooks. Plain data, so that a thread can receive it. */
export interface WebhookRules {
  readonly gates: FeatureGates;
  /** See `OperatorConfig`, as for the next. */
  readonly nativeRestartRules?: boolean | undefined;
  readonly agentResources?: ContainerResources | undefined;
  /** Whether the operator serves a hub; by default it does. */
  readonly servesHub?: boolean | undefined;
  readonly limits?: SizeLimits | undefined;
  /** For JobSets without settings of their own. */
  readonly agentDefaults?: AgentDefaults | undefined;
}

/** What webhooks need to know of the cluster. */
export interface WebhookQuestions {
  readonly jobSets: JobSetQuestions;
  readonly pods: PodLookups;
}

/** All webhooks, by path. */
export function webhookHandlers(
  { gates, agentDefaults, agentResources, limits, ...rules }: WebhookRules,
  { jobSets, pods }: WebhookQuestions,
): ReadonlyMap<string, AdmissionHandler> {
  const { nativeRestartRules = false, servesHub } = rules;
  const agent = {
    nativeRestartRules,
    agentDefaults,
    servesHub,
    ...defined({ resources: agentResources }),
  };
  return new Map<string, AdmissionHandler>([
    [WEBHOOK_PATHS.mutateJobSet, jobSetMutator(jobSets, gates, agentDefaults, limits)],
    [WEBHOOK_PATHS.validateJobSet, jobSetValidator(jobSets, gates, agent, limits)],
    [WEBHOOK_PATHS.mutatePod, podMutator(pods)],
    [WEBHOOK_PATHS.validatePod, podValidator(pods)],
    [WEBHOOK_PATHS.avoidNodes, nodeAvoider(pods)],
  ]);
}
