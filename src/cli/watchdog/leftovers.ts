/** Processes of Pods that a killed `lockstep up` has left behind. */

import { EnvironmentKiller } from '@lockstep/kube/runtime/adapters/environment-killer.ts';
import { ENV_ROOT } from '../../jobset/names.ts';

/**
 * Kills all of our user's processes whose container has its root below the nodes of
 * `stateDirectory`, and resolves with their number once none is left. No cluster may run there.
 * Finds none where the system does not show environments (not Linux).
 */
export function endLeftovers(stateDirectory: string): Promise<number> {
  return new EnvironmentKiller().killBeginning(ENV_ROOT, `${stateDirectory}/nodes/`);
}

export function leftoversText(count: number): string {
  const what = count === 1 ? '1 process' : `${count} processes`;
  return `Ended ${what} of Pods that an earlier "lockstep up" had left`;
}
