/**
 * Conditions for tools that know nothing of JobSets, such as kstatus, Flux and Argo CD. `Ready` and
 * `Stalled` follow from the status that is about to be written, so they cost no writes of their own.
 */

import { allJobsReady } from '../../child-jobs/replicated-jobs-status.ts';
import type { JobSetStatus } from '../../jobset-status.ts';
import { type ConditionChange, cleared, FOR_TOOLS, isTrue } from '../../status/conditions.ts';
import { epochsOf } from '../../status/epochs.ts';
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';
import type { Next } from '../merge.ts';

/** A change of the spec gets a write of its own, which may carry other changes. */
export function observeGeneration(facts: Facts, { status }: Next): Decision {
  const { generation } = facts.jobSet.metadata;
  const isObserved = generation === undefined || status.observedGeneration === generation;
  return isObserved || !keepsGeneration(facts)
    ? {}
    : { status: { observedGeneration: generation } };
}

export function reportReadiness(facts: Facts, { status }: Next): Decision {
  if (!keepsGeneration(facts)) return takenBack(status);
  const ready = { type: 'Ready', isToldWhenFalse: true, ...readiness(facts, status) } as const;
  return { conditions: [ready, stalled(status)] };
}

/**
 * Whether the definition has the field. Without it there are no conditions for tools: they would
 * take a condition of an earlier spec for the newest. If the definition may not be read, a status
 * with the field proves it.
 */
function keepsGeneration({ lacks, isDefinitionUnread, status }: Facts): boolean {
  if (lacks?.has('observedGeneration') !== true) return true;
  return isDefinitionUnread === true && status.observedGeneration !== undefined;
}

/** Conditions from before the definition was replaced would never change again. */
function takenBack({ conditions = [] }: JobSetStatus): Decision {
  const others = conditions.filter(({ type }) => !FOR_TOOLS.includes(type));
  return others.length === conditions.length ? {} : { status: { conditions: others } };
}

type Told = Pick<ConditionChange, 'status' | 'reason' | 'message'>;

function readiness({ spec, group }: Facts, status: JobSetStatus): Told {
  const { conditions } = status;
  if (isTrue(conditions, 'Failed')) return no('Failed', 'the JobSet has failed');
  if (isTrue(conditions, 'Completed')) return yes('Completed', 'the JobSet is complete');
  if (isTrue(conditions, 'Rejected')) return no('Rejected', 'the operator cannot act on the spec');
  if (spec.suspend || isTrue(conditions, 'Suspended')) {
    return no('Suspended', 'the JobSet is suspended');
  }
  if (isTrue(conditions, 'RestartingJobSet')) {
    return no('RestartingJobSet', 'Jobs are being recreated');
  }
  if (group === undefined) {
    return allJobsReady(spec.replicatedJobs, status.replicatedJobsStatus ?? [])
      ? yes('JobsReady', 'all Jobs are ready or have succeeded')
      : no('JobsNotReady', 'not all Jobs are ready');
  }
  const { deprecated, synced } = epochsOf(status);
  if (synced > deprecated) return yes('EpochReleased', 'the current epoch is released');
  return deprecated === 0
    ? no('Starting', 'the first epoch is not released')
    : no('RestartingInPlace', 'the current epoch is not released');
}

function yes(reason: string, message: string): Told {
  return { status: 'True', reason, message };
}

function no(reason: string, message: string): Told {
  return { status: 'False', reason, message };
}

/** Whether the JobSet waits until somebody acts. */
function stalled({ conditions }: JobSetStatus): ConditionChange {
  const type = 'Stalled';
  for (const reason of ['Failed', 'Rejected'] as const) {
    if (isTrue(conditions, reason)) {
      return { type, status: 'True', reason, message: `condition ${reason} says why` };
    }
  }
  const { event: _, ...over } = cleared(type, 'GoesOn', 'the JobSet goes on');
  return over;
}
