/** Maps the path of each webhook to its decision. */

import { defined } from '@lockstep/kube/json/defined.ts';
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import type { KubeObject } from '@lockstep/kube/meta.ts';
import type { FeatureGates } from '../../jobset/feature-gates.ts';
import type { AgentDefaults } from '../../jobset/injection/agent-defaults.ts';
import type { ContainerResources } from '../../jobset/injection/agent-resources.ts';
import { isManagedByUs, type ManagedScope } from '../../jobset/manager.ts';
import type { JobSetLimits } from '../../jobset/size-limits.ts';
import type { PodLookups } from '../pod-placement/pod-lookups.ts';
import type { AdmissionHandler } from './admission-handler.ts';
import { type JobSetQuestions, jobSetMutator, jobSetValidator } from './jobset-webhooks.ts';
import { nodeAvoider, podMutator, podValidator } from './pod-webhooks.ts';
import { WEBHOOK_PATHS } from './webhook-configurations.ts';

/** The settings of webhooks. Plain data, so that a thread can receive it. */
export interface WebhookRules extends ManagedScope {
  readonly gates: FeatureGates;
  /** See `OperatorConfig`, as for the next. */
  readonly nativeRestartRules?: boolean | undefined;
  readonly agentResources?: ContainerResources | undefined;
  /** Whether the operator serves a hub; by default it does. */
  readonly servesHub?: boolean | undefined;
  readonly limits?: JobSetLimits | undefined;
  /** For JobSets without settings of their own. */
  readonly agentDefaults?: AgentDefaults | undefined;
}

/** The questions of webhooks about the cluster. */
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
  const defaults = { agentDefaults, servesHub };
  const agent = {
    nativeRestartRules,
    agentDefaults,
    servesHub,
    ...defined({ resources: agentResources }),
  };
  return new Map<string, AdmissionHandler>([
    [WEBHOOK_PATHS.mutateJobSet, ofOurs(jobSetMutator(jobSets, gates, defaults, limits), rules)],
    [WEBHOOK_PATHS.validateJobSet, ofOurs(jobSetValidator(jobSets, gates, agent, limits), rules)],
    [WEBHOOK_PATHS.mutatePod, podMutator(pods)],
    [WEBHOOK_PATHS.validatePod, podValidator(pods)],
    [WEBHOOK_PATHS.avoidNodes, nodeAvoider(pods)],
  ]);
}

/**
 * Lets JobSets of another controller pass. It judges a JobSet that was ours, too, because a JobSet's
 * controller must not change.
 */
function ofOurs(judge: AdmissionHandler, { onlyManaged = false }: ManagedScope): AdmissionHandler {
  if (!onlyManaged) return judge;
  return (request, signal) =>
    [request.object, request.oldObject].some((one) => namesUs(one))
      ? judge(request, signal)
      : Promise.resolve({ kind: 'Allowed' });
}

function namesUs(object: KubeObject | undefined): boolean {
  const spec: unknown = object !== undefined && 'spec' in object ? object.spec : undefined;
  return isJsonObject(spec) && isManagedByUs(spec, { onlyManaged: true });
}
