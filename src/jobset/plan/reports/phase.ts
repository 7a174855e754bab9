/** The phase of a JobSet after a status write, for the accounting of its time. */

import { allJobsReady } from '../../child-jobs/replicated-jobs-status.ts';
import { currentEpoch } from '../../epoch/in-place-restart.ts';
import type { GoodputPhase, JobSetStatus } from '../../jobset-status.ts';
import { isFinished, isTrue } from '../../status/conditions.ts';
import type { Facts } from '../facts.ts';

export function phaseAfter(facts: Facts, next: JobSetStatus): GoodputPhase {
  if (isFinished(next.conditions)) return 'Finished';
  if (facts.spec.suspend) return 'Suspended';
  return facts.group === undefined ? phaseOfJobs(facts, next) : phaseOfGroup(facts, next);
}

/**
 * The release of the first ReplicatedJob begins an epoch. After a suspend its old epoch still counts
 * as released until the resume ends it, so a release counts in the write that makes it.
 */
function phaseOfGroup({ status }: Facts, next: JobSetStatus): GoodputPhase {
  const { phase } = status.goodput ?? {};
  const isIdle = phase === 'Waiting' || phase === 'Suspended';
  if (isReleased(next)) {
    const isResuming = isIdle && isReleased(status) && isTrue(next.conditions, 'Suspended');
    if (!isResuming) return 'Running';
  }
  return isIdle || currentEpoch(next) === 1 ? 'Waiting' : 'Restarting';
}

/** Without agents, the counters show when all Pods run. */
function phaseOfJobs({ spec, status, counters }: Facts, next: JobSetStatus): GoodputPhase {
  const { phase } = status.goodput ?? {};
  if (restartsOf(next) > restartsOf(status)) return 'Restarting';
  if (phase === 'Running' || allJobsReady(spec.replicatedJobs, counters)) return 'Running';
  return phase === 'Restarting' ? 'Restarting' : 'Waiting';
}

function isReleased(status: JobSetStatus): boolean {
  const epoch = currentEpoch(status);
  return status.replicatedJobsStatus?.some(({ syncedEpoch }) => syncedEpoch === epoch) === true;
}

/** Restarts of all Jobs, and of single ones. */
function restartsOf({ restarts = 0, replicatedJobsStatus = [] }: JobSetStatus): number {
  const ofJobs = replicatedJobsStatus.flatMap(({ jobRestarts = [] }) => jobRestarts);
  return ofJobs.reduce((sum, each) => sum + each, restarts);
}
