import type { Progress } from './startup-order.ts';

/**
 * The startup policy `InOrder` (spec 4.9): ReplicatedJobs start one after the other, in the order of
 * the spec, each when all Jobs of the one before it are ready or have ended.
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
