import { endEpoch } from './epoch-end.ts';
import { decideFailure, firstFailed } from './failure-policy.ts';
import { currentEpoch, isReleased } from './in-place-restart.ts';
import type { Planning } from './planning.ts';
import { groupOf, hasBackoff } from './planning.ts';
import { isBudgetSpent } from './restart-budget.ts';
import type { FailedJobAnswer, Question } from './snapshot.ts';
import { failJobSet } from './terminal-state.ts';

/**
 * The failure policy applied to Jobs that failed (spec 4.11, design section 5). Restarting Jobs of a
 * group that restarts in place ends its epoch in the same write. A failure that was caused in an
 * epoch which has ended already belongs to that restart: it is not charged again.
 */
export function planJobFailure(planning: Planning): Question | undefined {
  const { snapshot, spec, draft, children, stages } = planning;
  const first = firstFailed(children.failed);
  if (first === undefined) return undefined;
  const { failedJob } = snapshot.answers;
  if (stages !== undefined && failedJob === undefined) return { kind: 'FailedJob', job: first };

  const { status } = draft;
  const counted = stages === undefined || !belongsToRestart(planning, failedJob);
  const isSpent = isBudgetSpent(status, spec.failurePolicy?.maxRestarts ?? 0);
  const decision = decideFailure(spec, children.failed, isSpent, counted);
  switch (decision.kind) {
    case 'None':
      return undefined;
    case 'Fail':
      failJobSet(draft, decision.reason, decision.message);
      return undefined;
    case 'RestartAll':
      restartAllJobs(planning, counted, decision);
      return undefined;
  }
}

function belongsToRestart({ draft }: Planning, answer: FailedJobAnswer | undefined): boolean {
  const epoch = answer?.epoch;
  return epoch !== undefined && epoch < currentEpoch(draft.status);
}

function restartAllJobs(
  planning: Planning,
  counted: boolean,
  { reason, message }: { readonly reason: string; readonly message: string },
): void {
  const { draft, spec, snapshot, stages } = planning;
  const { restarts = 0, restartsCountTowardsMax = 0 } = draft.status;
  draft.set({
    restarts: restarts + 1,
    restartsCountTowardsMax: restartsCountTowardsMax + (counted ? 1 : 0),
  });
  draft.event('Warning', 'RestartJobSetFailurePolicyAction', message);
  draft.condition({ type: 'RestartingJobSet', status: 'True', reason, message }, 'Warning');
  draft.outcome({ kind: 'JobsRestarted', counted });
  if (stages === undefined || spec.suspend) return;
  // An epoch that has not begun absorbs a failure which belongs to the restart under way.
  const group = groupOf(planning, stages);
  if (!counted && !isReleased(group)) return;
  endEpoch(draft, group, {
    cause: 'JobsRecreated',
    counted,
    witness: snapshot.answers.failedJob?.witness,
    maxRestarts: spec.failurePolicy?.maxRestarts ?? 0,
    hasBackoff: hasBackoff(planning),
    nowMs: snapshot.nowMs,
  });
}
