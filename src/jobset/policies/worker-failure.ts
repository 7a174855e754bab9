import { applicable } from '../child-jobs/job-restart.ts';
import { endEpoch } from '../epoch/epoch-end.ts';
import type { Group } from '../epoch/in-place-restart.ts';
import { describeWitness, type Witness } from '../epoch/witness.ts';
import type { Planning } from '../planning.ts';
import type { Question } from '../snapshot.ts';
import { failJobSet } from '../status/terminal-state.ts';
import {
  eventReasonOf,
  isCharged,
  judgeWorker,
  messageOf,
  restartsOneJob,
  type Verdict,
} from './failure-policy.ts';
import { restartJobs } from './job-failure.ts';
import { isBudgetSpent } from './restart-budget.ts';

/**
 * The failure policy applied to a worker that failed while its group can restart in place
 * (`docs/design/end-hazards.md#a-disruption-is-charged-like-a-crash`). The reasons and Events are
 * those of failed Jobs; `RestartingJobSet` is not touched, since no Jobs are recreated, unless the
 * rule wants that of the worker's own Job.
 */
export interface WorkerFailure {
  readonly cause: 'WorkerFailed' | 'StartFailed';
  /** UID of the Job of the Pod that failed. */
  readonly jobUid: string;
  readonly witness: Witness;
}

/** Writes what follows into the draft, unless it has to ask something first. */
export function planWorkerFailure(
  planning: Planning,
  group: Group,
  failure: WorkerFailure,
): Question | undefined {
  const { draft, spec, snapshot } = planning;
  const who = describeWitness(failure.witness.record);
  const judged = judgeWorker(spec.failurePolicy?.rules ?? [], {
    replicatedJob: stageOf(group, failure.jobUid)?.name,
    message: who,
  });
  const maxRestarts = spec.failurePolicy?.maxRestarts ?? 0;
  const isOver = isCharged(judged.action) && isBudgetSpent(draft.status, maxRestarts);
  if (isOver || judged.action === 'FailJobSet') {
    // To fail is final, and the watch of Pods that succeeded may be behind that of failures
    // (`docs/design/end-hazards.md#a-member-fails-after-others-have-succeeded`).
    if (snapshot.answers.isSuccessFresh !== true) return { kind: 'SucceededPods' };
    if (isOver) {
      const message = `jobset failed due to reaching max number of restarts (${who})`;
      failJobSet(draft, 'ReachedMaxRestarts', message);
    } else failJobSet(draft, eventReasonOf(judged), `${messageOf(judged)} (${who})`);
    return undefined;
  }
  restart(planning, group, failure, judged);
  return undefined;
}

function restart(
  planning: Planning,
  group: Group,
  { cause, jobUid, witness }: WorkerFailure,
  judged: Verdict,
): void {
  const { draft } = planning;
  const job = stageOf(group, jobUid)?.jobs.find(({ metadata }) => metadata.uid === jobUid);
  const { verdict, place } = applicable(planning, judged, job);
  const isCounted = isCharged(verdict.action);
  const because = ` (${describeWitness(witness.record)})`;
  const restartsJob = restartsOneJob(verdict.action);
  if (restartsJob) restartJobs(planning, { verdict, place, isCounted, because });
  else if (verdict.rule !== undefined) {
    draft.event('Warning', eventReasonOf(verdict), `${messageOf(verdict)}${because}`);
  }
  endEpoch(planning, group, {
    cause: restartsJob ? 'JobsRecreated' : cause,
    counted: isCounted,
    verdict,
    witness,
  });
}

function stageOf({ stages }: Group, jobUid: string): Group['stages'][number] | undefined {
  return stages.find(({ jobs }) => jobs.some(({ metadata }) => metadata.uid === jobUid));
}
