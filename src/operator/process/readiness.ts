/** Whether the operator's process is ready. */
import type { HealthCheck } from '@lockstep/kube/runtime/health.ts';

/** The parts that run so far; it changes while the process starts and ends. */
export interface OperatorProgress {
  /** Why the API server does not show us JobSets; `unknown` until it was asked. */
  api: 'unknown' | 'served' | { readonly problem: string };
  caches?: { hasSynced(): boolean } | undefined;
  webhooks?: { problem(): string | undefined } | undefined;
  /** Whether it is about to end, so that others are to be asked. */
  leaves?: boolean;
}

/**
 * The checks of readiness. A replica that waits for the lease needs its caches too: it has to act
 * as soon as the leader ends, and a rolling update waits for it.
 */
export function readinessChecks(
  { hasWebhooks }: { readonly hasWebhooks: boolean },
  progress: OperatorProgress,
): readonly HealthCheck[] {
  const api: HealthCheck = {
    name: 'jobset-api',
    problem: () => {
      if (progress.api === 'unknown') return 'the API server was not asked yet';
      return progress.api === 'served' ? undefined : progress.api.problem;
    },
  };
  const informers: HealthCheck = {
    name: 'informer-sync',
    problem: () =>
      progress.caches?.hasSynced() === true ? undefined : 'caches are not filled yet',
  };
  const staying: HealthCheck = {
    name: 'staying',
    problem: () => (progress.leaves === true ? 'it restarts with changed settings' : undefined),
  };
  if (!hasWebhooks) return [api, informers, staying];
  const problem = (): string | undefined =>
    progress.webhooks === undefined ? 'they were not started yet' : progress.webhooks.problem();
  return [api, informers, staying, { name: 'webhooks', problem }];
}
