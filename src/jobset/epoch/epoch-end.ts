import { microTimeText } from '../../kube/time.ts';
import { FIRST_GENERATION, type RestartCause, type RestartRecord } from '../jobset.ts';
import { hasBackoff, type Planning } from '../planning.ts';
import { reasonOf, type Verdict } from '../policies/failure-policy.ts';
import { countedRestarts } from '../policies/restart-budget.ts';
import { withFailedPods } from './failed-pods.ts';
import { currentEpoch, type Group, isReleased } from './in-place-restart.ts';
import {
  crashLoopDelayMs,
  recordEnd,
  runningForMs,
  SHORT_EPOCH_MS,
  shortEpochsInARow,
} from './restart-history.ts';
import { describeWitness, type Witness } from './witness.ts';

/**
 * The one write that ends an epoch (design, section 5): it deprecates the epoch and carries cause,
 * witness and charge, so that each cause is charged once, whatever crashes afterwards.
 */
export interface EpochEnd {
  readonly cause: RestartCause;
  readonly counted: boolean;
  /** What the failure policy made of a worker's failure. */
  readonly verdict?: Verdict;
  readonly witness: Witness | undefined;
}

/** Writes the end of C into the draft. Counters of restarts are the caller's, but for in-place ones. */
export function endEpoch(planning: Planning, group: Group, end: EpochEnd): void {
  const { draft, snapshot } = planning;
  const { nowMs } = snapshot;
  const { status } = draft;
  const epoch = currentEpoch(status);
  const finishedMs = end.witness?.finishedMs;
  const detectMs = finishedMs === undefined ? undefined : Math.max(0, nowMs - finishedMs);
  const ranMs = runningForMs(status, isReleased(group), nowMs);
  const record: RestartRecord = {
    epoch,
    time: microTimeText(nowMs),
    cause: end.cause,
    counted: end.counted,
    generation: status.releasedGeneration ?? FIRST_GENERATION,
    ...(ranMs === undefined ? {} : { ranMs }),
    ...(end.witness === undefined ? {} : { witness: end.witness.record }),
    ...(detectMs === undefined ? {} : { phases: { detectMs } }),
  };
  const isInPlace = isFailureInPlace(end.cause);
  const statuses = status.replicatedJobsStatus;
  draft.set({
    deprecatedEpoch: epoch,
    restartHistory: recordEnd(status.restartHistory, record),
    inPlaceRestarts: (status.inPlaceRestarts ?? 0) + (isInPlace ? 1 : 0),
    inPlaceRestartsCountTowardsMax:
      (status.inPlaceRestartsCountTowardsMax ?? 0) + (isInPlace && end.counted ? 1 : 0),
    ...(statuses === undefined
      ? {}
      : { replicatedJobsStatus: withFailedPods(statuses, group.stages) }),
  });
  draft.condition(
    {
      type: 'RestartingInPlace',
      status: 'True',
      reason: end.verdict?.rule === undefined ? end.cause : reasonOf(end.verdict),
      message: messageOf(planning, epoch, end),
    },
    isInPlace ? 'Warning' : 'Normal',
  );
  draft.outcome({
    kind: 'EpochEnded',
    cause: end.cause,
    counted: end.counted,
    ...(detectMs === undefined ? {} : { detectMs }),
  });
}

/** Whether workers failed and no Job is made anew for it. */
function isFailureInPlace(cause: RestartCause): boolean {
  return cause === 'WorkerFailed' || cause === 'StartFailed';
}

function messageOf(planning: Planning, epoch: number, end: EpochEnd): string {
  const { status } = planning.draft;
  const maxRestarts = planning.spec.failurePolicy?.maxRestarts ?? 0;
  const used = `${countedRestarts(status)} of ${maxRestarts} restarts used`;
  const because = `epoch ${epoch} ended: ${causeOf(end)}; ${used}`;
  const delayMs = hasBackoff(planning) ? crashLoopDelayMs(status.restartHistory) : 0;
  if (delayMs === 0) return because;
  const short = shortEpochsInARow(status.restartHistory);
  return `${because}; the next epoch waits ${delayMs / 1000} s, because ${short} epochs in a row ended within ${SHORT_EPOCH_MS / 1000} s`;
}

function causeOf({ cause, witness }: EpochEnd): string {
  const who = witness === undefined ? '' : describeWitness(witness.record);
  switch (cause) {
    case 'WorkerFailed':
      return who === '' ? 'a member failed' : who;
    case 'StartFailed':
      return `containers keep crashing before the barrier${who === '' ? '' : `, ${who}`}`;
    case 'JobsRecreated':
      return who === '' ? 'the Jobs are recreated' : `the Jobs are recreated, ${who}`;
    case 'Resumed':
      return 'the JobSet was resumed';
    case 'Scaled':
      return 'the JobSet was scaled';
  }
}
