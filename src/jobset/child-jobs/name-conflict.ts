import { controllerOf, type Stored } from '../../kube/meta.ts';
import type { Job } from '../../kube/objects/job.ts';
import { JOBSETS } from '../jobset.ts';
import type { StatusDraft } from '../status/status-draft.ts';

/**
 * Objects of others under names that the JobSet needs: a Job blocks the index whose name it has and
 * nothing else, a Service that does not lead to the JobSet's Pods leaves them without DNS names. Both
 * are said in an Event and a condition, and looked at again.
 */
export interface HeldNames {
  /** Each in words. */
  readonly conflicts: readonly string[];
  /** Names that will be free without anybody's doing. */
  readonly leaving: number;
}

export function heldNames(holders: readonly Stored<Job>[], jobSet: string): HeldNames {
  const staying = holders.filter((holder) => !isLeaving(holder, jobSet));
  return {
    conflicts: staying.map(({ metadata }) => {
      const owner = controllerOf(metadata);
      const whose = owner === undefined ? 'no owner' : `${owner.kind} ${owner.name}`;
      return `Job ${metadata.name} exists and is controlled by ${whose}`;
    }),
    leaving: holders.length - staying.length,
  };
}

/** It is being deleted, or of a JobSet of this name that is gone and awaits garbage collection. */
function isLeaving({ metadata }: Stored<Job>, jobSet: string): boolean {
  const owner = controllerOf(metadata);
  const isOfPredecessor = owner?.kind === JOBSETS.kind && owner.name === jobSet;
  return metadata.deletionTimestamp !== undefined || isOfPredecessor;
}

/** Returns after how long to look again. */
export function reportConflicts(
  draft: StatusDraft,
  service: string | undefined,
  { conflicts: jobs, leaving }: HeldNames,
): number | undefined {
  const againMs = leaving > 0 ? LEAVING_RECHECK_MS : RECHECK_MS;
  if (service === undefined && jobs.length === 0) {
    const message = 'all names are free or held by the JobSet';
    draft.clear({ type: 'NameConflict', reason: 'NoConflict', message });
    return leaving > 0 ? againMs : undefined;
  }
  const more = jobs.length > MAX_NAMED ? [`and ${jobs.length - MAX_NAMED} more Jobs`] : [];
  const problems = [...(service === undefined ? [] : [service]), ...jobs.slice(0, MAX_NAMED)];
  draft.condition(
    {
      type: 'NameConflict',
      status: 'True',
      reason: jobs.length > 0 ? 'ForeignJob' : 'ForeignService',
      message: [...problems, ...more].join('; '),
    },
    'Warning',
  );
  return againMs;
}

/** A message names this many Jobs; a condition's message has room for no thousand. */
const MAX_NAMED = 5;
/** Nobody tells us when an object that is not ours goes away. */
const RECHECK_MS = 10_000;
const LEAVING_RECHECK_MS = 1000;
