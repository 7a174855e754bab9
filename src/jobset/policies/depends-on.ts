import type { DependsOn } from '../jobset.ts';
import type { Progress } from './startup-order.ts';

/**
 * Whether every ReplicatedJob that another depends on is as far as it has to be. `Ready` means that
 * all its Jobs have started, failed ones included; `Complete` that all have succeeded. A dependency
 * without Jobs is met at once, one that does not exist never.
 */
export function hasReached(
  dependsOn: readonly DependsOn[],
  progress: ReadonlyMap<string, Progress>,
): boolean {
  return dependsOn.every(({ name, status }) => {
    const of = progress.get(name);
    return of !== undefined && isAsFar(of, status);
  });
}

function isAsFar({ replicas, started, succeeded }: Progress, status: DependsOn['status']): boolean {
  switch (status) {
    case 'Ready':
      return started === replicas;
    case 'Complete':
      return succeeded === replicas;
  }
}
