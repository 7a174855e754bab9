/** Restarts in words. */
import { failureInWords, isFailure, likeliest } from '../../../../jobset/culprits/failure-words.ts';
import type { ReportedRestart } from '../../../../jobset/epoch/restart-request.ts';
import type { RestartCause, Suspect } from '../../../../jobset/jobset.ts';

const CAUSES: Readonly<Record<RestartCause | 'Requested', string>> = {
  WorkerFailed: 'a worker failed',
  StartFailed: 'containers kept crashing before the barrier',
  JobsRecreated: 'the failure policy recreated the Jobs',
  Resumed: 'the JobSet was resumed',
  Scaled: 'its size changed',
  Requested: 'a user asked for it',
};

export function causeInWords(cause: string): string {
  return (CAUSES as Readonly<Record<string, string>>)[cause] ?? cause;
}

/** The member that failed first, certainly or likely; null: it is not known, or none did. */
export function culpritOf(record: ReportedRestart): Suspect | null {
  return (isFailure(record) && likeliest(record.suspects)) || null;
}

/** One line for a mark, and for lists: who failed and how, or why the group restarted. */
export function restartInWords(record: ReportedRestart): string {
  return isFailure(record) ? failureInWords(record) : causeInWords(record.cause);
}

/** Whether it used up a restart. `isFinal`: the JobSet failed with it. */
export function countedInWords(record: ReportedRestart, isFinal: boolean): string {
  if (isFinal) return 'final: the JobSet failed';
  if (record.counted) return 'counted';
  return isFailure(record) ? 'not counted towards the limit' : 'not counted: no failure';
}
