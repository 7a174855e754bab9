import type { Job } from '../kube/job.ts';
import { controllerOf, type Stored } from '../kube/meta.ts';
import { JOBSETS } from './jobset.ts';
import type { StatusDraft } from './status-draft.ts';

/**
 * Objects of others under names that the JobSet needs: a Job blocks the index whose name it has and
 * nothing else, a Service that does not lead to the JobSet's Pods leaves them without DNS names. Both
 * are said in an Event and a condition, and looked at again.
 */
export function jobConflict(holder: Stored<Job>, jobSet: string): string | undefined {
  const { name, deletionTimestamp } = holder.metadata;
  // Its name is free in a moment, or whenever its finalizers are done.
  if (deletionTimestamp !== undefined) return undefined;
  const owner = controllerOf(holder.metadata);
  // Of a JobSet of this name that is gone: the garbage collector is on its way.
  if (owner?.kind === JOBSETS.kind && owner.name === jobSet) return undefined;
  const whose = owner === undefined ? 'nobody' : `${owner.kind} ${owner.name}`;
  return `Job ${name} exists and is controlled by ${whose}`;
}

/** Returns after how long to look again. */
export function reportConflicts(
  draft: StatusDraft,
  service: string | undefined,
  jobs: readonly string[],
): number | undefined {
  if (service === undefined && jobs.length === 0) {
    const message = 'all names are free or held by the JobSet';
    draft.clear({ type: 'NameConflict', reason: 'NoConflict', message });
    return undefined;
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
  return RECHECK_MS;
}

/** A message names this many Jobs; a condition's message has room for no thousand. */
const MAX_NAMED = 5;
/** Nobody tells us when an object that is not ours goes away. */
const RECHECK_MS = 10_000;
