/**
 * Ends an epoch with one status write. It deprecates the epoch and carries cause, witness and
 * charge, so that each cause is charged once, even if the operator crashes afterwards
 * (`docs/design/protocol.md`).
 */
import { microTimeText } from '@lockstep/kube/time.ts';
import { firstSeenInWords } from '../../culprits/failure-words.ts';
import { withFailedPods } from '../../epoch/failed-pods.ts';
import { isReleased } from '../../epoch/in-place-restart.ts';
import {
  backoffMs,
  isOpen,
  recordEnd,
  runningForMs,
  SHORT_EPOCH_MS,
  shortEpochsInARow,
} from '../../epoch/restart-history.ts';
import type { Witness } from '../../epoch/witness.ts';
import { FIRST_GENERATION, type JobSet } from '../../jobset.ts';
import type { JobSetStatus, RestartCause, RestartRecord } from '../../jobset-status.ts';
import { RESTART_EPOCH } from '../../names.ts';
import { type PolicyDecision, reasonOf } from '../../policies/failure-policy.ts';
import { allowedRestarts, countedRestarts } from '../../policies/restart-budget.ts';
import { withShortNames } from '../../roster/short-names.ts';
import type { Decision } from '../decision.ts';
import type { GroupFacts } from '../facts.ts';
import { endedProgress } from '../records/ended-progress.ts';
import { withSuspects } from '../records/records.ts';

export interface EpochEnd {
  readonly cause: RestartCause;
  /** The user asked for it, see `reportedRestarts`. */
  readonly isRequested?: boolean;
  /** Its size is the same, but agents could not number their ranks. */
  readonly isUnnumbered?: boolean;
  readonly counted: boolean;
  /** What the failure policy decided on a worker's failure. */
  readonly decided?: PolicyDecision;
  readonly witness: Witness | undefined;
}

/**
 * Ends C and counts restarts in place. In `status`, the caller has counted restarts that recreate
 * Jobs.
 */
export function endEpoch(facts: GroupFacts, end: EpochEnd, status: JobSetStatus): Decision {
  const { group, jobSet } = facts;
  const { epoch, stages } = group;
  const record = recordOf(facts, end, status);
  const isInPlace = isFailureInPlace(end.cause);
  const isFailure = isInPlace || end.cause === 'JobsRecreated';
  const progress = isFailure ? endedProgress(facts, end.counted) : undefined;
  const { inPlaceRestarts = 0, inPlaceRestartsCountTowardsMax = 0 } = status;
  const change = {
    deprecatedEpoch: epoch,
    restartHistory: recordEnd(historyOf(facts, status), record),
    inPlaceRestarts: inPlaceRestarts + (isInPlace ? 1 : 0),
    inPlaceRestartsCountTowardsMax:
      inPlaceRestartsCountTowardsMax + (isInPlace && end.counted ? 1 : 0),
    ...(status.replicatedJobsStatus && {
      replicatedJobsStatus: withFailedPods(status.replicatedJobsStatus, stages),
    }),
    ...(progress && { progress }),
  };
  const used = `${countedRestarts({ ...status, ...change })} of ${allowedRestarts(jobSet)} restarts used`;
  const names = jobSet.spec.replicatedJobs?.length ?? 0;
  const restarting = {
    type: 'RestartingInPlace',
    status: 'True',
    reason: reasonOfEnd(end),
    message: `epoch ${epoch} ended: ${withShortNames(causeInWords(end), names)}; ${used}${waitInWords(jobSet, change.restartHistory)}`,
    event: isInPlace ? 'Warning' : 'Normal',
  } as const;
  return {
    status: change,
    conditions: [restarting],
    outcomes: [
      {
        kind: 'EpochEnded',
        cause: end.cause,
        counted: end.counted,
        detectMs: record.phases?.detectMs,
      },
    ],
  };
}

/** The failure that ends the JobSet. Its epoch stays the current one, and nothing is charged. */
export function recordFailure(
  facts: GroupFacts,
  end: Pick<EpochEnd, 'cause' | 'witness'>,
): { readonly record: RestartRecord; readonly restartHistory: readonly RestartRecord[] } {
  const record = withSuspects(recordOf(facts, { ...end, counted: false }, facts.status), facts);
  return { record, restartHistory: recordEnd(historyOf(facts, facts.status), record) };
}

function recordOf(
  { group, nowMs }: GroupFacts,
  { cause, counted, witness }: EpochEnd,
  status: JobSetStatus,
): RestartRecord {
  const finishedMs = witness?.finishedMs;
  const detectMs = finishedMs === undefined ? undefined : Math.max(0, nowMs - finishedMs);
  const ranMs = runningForMs(status, isReleased(group), nowMs);
  return {
    epoch: group.epoch,
    time: microTimeText(nowMs),
    cause,
    counted,
    generation: status.releasedGeneration ?? FIRST_GENERATION,
    ...(ranMs === undefined ? {} : { ranMs }),
    ...(witness === undefined ? {} : { witness: witness.record }),
    ...(detectMs === undefined ? {} : { phases: { detectMs } }),
  };
}

/** The end of an epoch that was never released adds the suspects of the epoch before it. */
function historyOf(facts: GroupFacts, status: JobSetStatus): readonly RestartRecord[] {
  const [newest, ...older] = status.restartHistory ?? [];
  if (newest === undefined) return [];
  return [isOpen(newest) ? withSuspects(newest, facts) : newest, ...older];
}

function reasonOfEnd({ cause, decided, isRequested = false }: EpochEnd): string {
  if (isRequested) return 'Requested';
  return decided?.rule === undefined ? cause : reasonOf(decided);
}

/** Whether workers failed, and no Job is recreated for that. */
function isFailureInPlace(cause: RestartCause): boolean {
  return cause === 'WorkerFailed' || cause === 'StartFailed';
}

function waitInWords(jobSet: JobSet, history: readonly RestartRecord[]): string {
  const delayMs = backoffMs(jobSet, history);
  if (delayMs === 0) return '';
  const short = shortEpochsInARow(history);
  return `; the next epoch waits ${delayMs / 1000} s, because ${short} epochs in a row ended within ${SHORT_EPOCH_MS / 1000} s`;
}

function causeInWords({ cause, witness, isRequested, isUnnumbered }: EpochEnd): string {
  if (isRequested === true) return `${RESTART_EPOCH} asked for it`;
  const who = witness === undefined ? '' : firstSeenInWords(witness.record);
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
      return isUnnumbered === true ? 'its ranks had no numbers' : 'the JobSet was scaled';
  }
}
