/** What ended an epoch, and whether it used up a restart, in words for `report` and the page. */
import { isFailure } from '../culprits/failure-words.ts';
import type { RestartCause } from '../jobset-status.ts';
import type { ReportedRestart } from './reported-restarts.ts';

const CAUSES: Readonly<Record<RestartCause | 'Requested', string>> = {
  WorkerFailed: 'a worker failed',
  StartFailed: 'containers kept crashing before the barrier',
  JobsRecreated: 'the failure policy recreated the Jobs',
  Resumed: 'the JobSet was resumed',
  Scaled: 'its size changed',
  Requested: 'a user asked for it',
};

export function causeInWords({
  cause,
  witness,
}: Pick<ReportedRestart, 'cause' | 'witness'>): string {
  if (cause === 'WorkerFailed' && witness?.reason === 'WorkerHung') return 'a worker hung';
  return (CAUSES as Readonly<Record<string, string>>)[cause] ?? cause;
}

/** Whether an end used up a restart, and why not. `isFinal`: the JobSet failed with it. */
export function countedInWords(
  record: Pick<ReportedRestart, 'cause' | 'counted'>,
  isFinal: boolean,
): string {
  if (isFinal) return 'final: the JobSet failed';
  if (record.counted) return 'counted';
  return `not counted: ${isFailure(record) ? 'the failure policy says so' : 'no failure'}`;
}

/** Conditions have whole seconds. */
const ONE_WRITE_MS = 1000;

/** Whether the JobSet failed with this record: one write at `failedMs` has both. */
export function isFinalFailure(
  { time, counted }: Pick<ReportedRestart, 'time' | 'counted'>,
  failedMs: number,
): boolean {
  return !counted && Math.abs(failedMs - Date.parse(time)) <= ONE_WRITE_MS;
}
