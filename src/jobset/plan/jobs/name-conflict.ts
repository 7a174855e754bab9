/**
 * Reports objects of other owners that have names of the JobSet, with an Event and a condition. A Job
 * blocks only the index whose name it has. A Service that does not select the JobSet's Pods leaves
 * them without DNS names.
 */
import { controllerOf, type Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { serviceProblem } from '../../headless-service.ts';
import { ownerOf } from '../../membership.ts';
import { cleared } from '../../status/conditions.ts';
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';
import { wantedService } from './surroundings.ts';

/** `holders` are Jobs that the JobSet does not control and whose names it needs. */
export function reportConflicts(
  facts: Facts,
  holders: readonly Stored<Job>[],
): readonly Decision[] {
  const type = 'NameConflict';
  const { service: found } = facts.surroundings;
  const wanted = wantedService(facts);
  const service = wanted && found && serviceProblem(found, wanted);
  const staying = holders.filter((holder) => !isLeaving(holder, facts.jobSet.metadata.name));
  const isAnyLeaving = staying.length < holders.length;
  const againMs = isAnyLeaving ? LEAVING_RECHECK_MS : RECHECK_MS;
  if (service === undefined && staying.length === 0) {
    const message = 'all names are free or held by the JobSet';
    const conditions = [cleared(type, 'NoConflict', message)];
    return [{ conditions, requeueAfterMs: isAnyLeaving ? againMs : undefined }];
  }
  const more = staying.length > MAX_NAMED ? [`and ${staying.length - MAX_NAMED} more Jobs`] : [];
  const named = staying.slice(0, MAX_NAMED).map(describe);
  const message = [...(service === undefined ? [] : [service]), ...named, ...more].join('; ');
  const reason = staying.length > 0 ? 'ForeignJob' : 'ForeignService';
  const conflict = { type, status: 'True', reason, message, event: 'Warning' } as const;
  return [{ conditions: [conflict], requeueAfterMs: againMs }];
}

function describe({ metadata }: Stored<Job>): string {
  const owner = controllerOf(metadata);
  const whose = owner === undefined ? 'no owner' : `${owner.kind} ${owner.name}`;
  return `Job ${metadata.name} exists and is controlled by ${whose}`;
}

/**
 * Whether the holder's name will become free by itself: the holder is being deleted, or it belongs
 * to a deleted JobSet of this name and waits for garbage collection.
 */
function isLeaving(holder: Stored<Job>, jobSet: string): boolean {
  return holder.metadata.deletionTimestamp !== undefined || ownerOf(holder)?.name === jobSet;
}

/** The most Jobs in a message, which has limited room. */
const MAX_NAMED = 5;
/** Needed because no event reports the end of a foreign object. */
const RECHECK_MS = 10_000;
const LEAVING_RECHECK_MS = 1000;
