/**
 * Applies the failure policy to a worker that failed while its group can restart in place. Failed
 * Jobs have the same reasons and Events. `RestartingJobSet` stays as it is, because no Jobs are
 * recreated, unless the rule asks to recreate the worker's own Job.
 */

import { failureInWords } from '../../culprits/failure-words.ts';
import type { Group } from '../../epoch/in-place-restart.ts';
import { describeEnd, describeWitness, type Witness } from '../../epoch/witness.ts';
import {
  eventReasonOf,
  isCharged,
  judgeWorker,
  messageOf,
  type PolicyDecision,
  restartsOneJob,
} from '../../policies/failure-policy.ts';
import type { Decision } from '../decision.ts';
import type { GroupFacts } from '../facts.ts';
import { applicable } from '../records/job-restart.ts';
import { askAboutSuspects, culpritEvent, culpritInWords, identified } from '../records/records.ts';
import { failed } from '../records/terminal-state.ts';
import { whyNoRestart } from '../records/why-no-restart.ts';
import { endEpoch, recordFailure } from './epoch-end.ts';
import { restartJobs } from './job-failure.ts';

export interface WorkerFailure {
  readonly cause: 'WorkerFailed' | 'StartFailed';
  /** UID of the Job of the Pod that failed. */
  readonly jobUid: string;
  readonly witness: Witness;
}

/** Ends the epoch or fails the JobSet, unless it has to ask something first. */
export function dealWithWorkerFailure(
  facts: GroupFacts,
  { witness, ...seen }: WorkerFailure,
): readonly Decision[] {
  const { group, spec, answer } = facts;
  const failure = { ...seen, witness: identified(witness, jobOf(group, seen.jobUid), facts) };
  const judged = judgeWorker(spec.failurePolicy?.rules ?? [], {
    replicatedJob: stageOf(group, failure.jobUid)?.name,
    message: describeEnd(failure.witness.record),
  });
  const last = isCharged(judged.action) ? whyNoRestart(facts) : undefined;
  if (last === undefined && judged.action !== 'FailJobSet') return restart(facts, failure, judged);
  // Failing is final, and the watch of succeeded Pods may be behind the watch of failures.
  const successes = { kind: 'SucceededPods' } as const;
  if (!answer(successes)) return [{ question: successes }];
  const { record, restartHistory } = recordFailure(facts, failure);
  const asked = askAboutSuspects(record, facts);
  if (asked.length > 0) return asked;
  const culprit = culpritInWords(record);
  const by = failureInWords(record, 'RankAndPod');
  return [
    {
      status: { restartHistory },
      ...(culprit === undefined ? {} : { events: [culpritEvent(culprit)] }),
    },
    last === undefined
      ? failed(eventReasonOf(judged), `${messageOf(judged)} (${by})`)
      : failed(last.reason, `${last.message} (${by})`),
  ];
}

function restart(
  facts: GroupFacts,
  { cause, jobUid, witness }: WorkerFailure,
  judged: PolicyDecision,
): readonly Decision[] {
  const { group, status } = facts;
  const job = jobOf(group, jobUid);
  const { decided, place, events } = applicable(facts, judged, job);
  const counted = isCharged(decided.action);
  const because = ` (first seen: ${describeWitness(witness.record)})`;
  if (restartsOneJob(decided.action)) {
    const ofJob = restartJobs(facts, { decided, place, isCounted: counted, because });
    const end = { cause: 'JobsRecreated', counted, decided, witness } as const;
    return [{ events }, ofJob, endEpoch(facts, end, { ...status, ...ofJob.status })];
  }
  const reason = eventReasonOf(decided);
  const note = `${messageOf(decided)}${because}`;
  const told = decided.rule === undefined ? [] : [{ type: 'Warning', reason, note } as const];
  const end = endEpoch(facts, { cause, counted, decided, witness }, status);
  return [{ events: [...events, ...told] }, end];
}

function jobOf(group: Group, jobUid: string): Group['stages'][number]['jobs'][number] | undefined {
  return stageOf(group, jobUid)?.jobs.find(({ metadata }) => metadata.uid === jobUid);
}

function stageOf({ stages }: Group, jobUid: string): Group['stages'][number] | undefined {
  return stages.find(({ jobs }) => jobs.some(({ metadata }) => metadata.uid === jobUid));
}
