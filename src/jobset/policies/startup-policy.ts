import type { DefaultedSpec } from '../defaults.ts';
import type { StatusDraft } from '../status/status-draft.ts';
import type { Progress, StartupOrder } from './startup-order.ts';

/**
 * The startup policy `InOrder`: ReplicatedJobs start one after the other, in the order of the spec,
 * each when all Jobs of the one before it are ready or have ended.
 */
export function firstNotStarted(
  replicatedJobs: readonly { readonly name: string }[],
  progress: ReadonlyMap<string, Progress>,
): string | undefined {
  return replicatedJobs.find(({ name }) => {
    const of = progress.get(name);
    return of !== undefined && of.started !== of.replicas;
  })?.name;
}

/**
 * The two conditions of the policy. They follow each start and each restart of the JobSet, and say
 * nothing new while it is suspended.
 */
export function reportStartup(
  draft: StatusDraft,
  { startupPolicy, suspend }: Pick<DefaultedSpec, 'startupPolicy' | 'suspend'>,
  { inProgress }: StartupOrder,
): void {
  if (startupPolicy.startupPolicyOrder !== 'InOrder' || suspend) return;
  draft.condition(inProgress === undefined ? COMPLETED : IN_PROGRESS, 'Normal');
}

const IN_PROGRESS = {
  type: 'StartupPolicyInProgress',
  status: 'True',
  reason: 'InOrderStartupPolicyInProgress',
  message: 'in order startup policy is in progress',
} as const;

const COMPLETED = {
  type: 'StartupPolicyCompleted',
  status: 'True',
  reason: 'InOrderStartupPolicyCompleted',
  message: 'in order startup policy has completed',
} as const;
