import type { HealthCheck } from '../../runtime/health.ts';

/** What of the operator's process runs so far; it changes while the process starts and ends. */
export interface OperatorProgress {
  /** Why the API server does not show us JobSets; `unknown` until it was asked. */
  api: 'unknown' | 'served' | { readonly problem: string };
  caches?: { hasSynced(): boolean } | undefined;
  webhooks?: { problem(): string | undefined } | undefined;
}

/**
 * What has to hold before the process counts as ready. A replica that waits for the lease has its caches
 * too: it is to act as soon as the leader ends, and an update goes on to the next Pod when it can.
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
  if (!hasWebhooks) return [api, informers];
  const problem = (): string | undefined =>
    progress.webhooks === undefined ? 'they were not started yet' : progress.webhooks.problem();
  return [api, informers, { name: 'webhooks', problem }];
}
