/** Asks for the end of an epoch. */

import { isReason } from '@lockstep/kube/status.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { RESTART_EPOCH } from '../../jobset/names.ts';
import { findJobSet, type NamedJobSet } from '../named-jobset.ts';
import { restartableEpoch } from './restart-state.ts';

/** A busy status changes several times a second, and each change may come between. */
const MAX_ATTEMPTS = 10;

/**
 * Writes the annotation under the version in which the epoch was seen to run: a later epoch is never
 * ended. Returns the epoch, which is `wanted` if that is given.
 */
export async function askForRestart(
  { client, at, jobSet, signal }: Omit<NamedJobSet, 'connection'>,
  wanted?: number,
): Promise<number> {
  const target = epochOf(jobSet, at);
  if (wanted !== undefined && target !== wanted) {
    throw new Error(`${nameOf(at)}: epoch ${wanted} has ended already; nothing was changed`);
  }
  let seen = jobSet;
  for (let attempt = 1; ; attempt++) {
    const { resourceVersion } = seen.metadata;
    const metadata = { resourceVersion, annotations: { [RESTART_EPOCH]: String(target) } };
    try {
      await client.patch(JOBSETS, at, { type: 'merge', patch: { metadata } }, { signal });
      return target;
    } catch (error) {
      if (!isReason(error, 'Conflict') || attempt === MAX_ATTEMPTS) throw error;
    }
    const now = await findJobSet(client, at, signal);
    if (now?.metadata.uid !== jobSet.metadata.uid) throw new Error(`${nameOf(at)} was deleted`);
    if (epochOf(now, at) !== target) {
      throw new Error(
        `${nameOf(at)}: epoch ${target} has just ended by itself; nothing was changed`,
      );
    }
    seen = now;
  }
}

function epochOf(jobSet: JobSet, at: NamedJobSet['at']): number {
  const found = restartableEpoch(jobSet);
  if ('epoch' in found) return found.epoch;
  throw new Error(`${nameOf(at)} cannot be restarted: ${found.problem}; nothing was changed`);
}

export function nameOf({ namespace, name }: NamedJobSet['at']): string {
  return `JobSet ${namespace}/${name}`;
}
