/** Restarts in words. */
import type { ReportedRestart } from '../../../../jobset/epoch/restart-request.ts';
import { describeEnd, describeWitness } from '../../../../jobset/epoch/witness.ts';
import type { RestartCause } from '../../../../jobset/jobset.ts';

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

/** Causes that no user wanted. */
export function isFailure({ cause }: ReportedRestart): boolean {
  return cause === 'WorkerFailed' || cause === 'StartFailed' || cause === 'JobsRecreated';
}

export interface Culprit {
  /** The rank, or the Pod. */
  readonly who: string;
  readonly why: string;
  /** Whether it is known that this member failed first. */
  readonly confidence: 'Certain' | 'Likely' | 'Seen';
  readonly pod: string;
  readonly node: string | undefined;
}

/** Who failed first, as far as anything is known of it: what members reported, or what was seen. */
export function culpritOf({ suspects = [], witness }: ReportedRestart): Culprit | null {
  const first = suspects.find(({ confidence }) => confidence === 'Certain') ?? suspects[0];
  if (first !== undefined) {
    const { worker, why, confidence, pod, node } = first;
    return { who: worker, why, confidence, pod, node };
  }
  if (witness === undefined) return null;
  const { worker, pod, node } = witness;
  return { who: worker ?? `Pod ${pod}`, why: describeEnd(witness), confidence: 'Seen', pod, node };
}

/** One line for a mark, and for lists: who failed and how, or why the group restarted. */
export function restartInWords(record: ReportedRestart): string {
  const culprit = culpritOf(record);
  if (culprit === null || !isFailure(record)) return causeInWords(record.cause);
  const { who, why, confidence } = culprit;
  if (confidence === 'Seen' && record.witness !== undefined) return describeWitness(record.witness);
  return `${confidence === 'Likely' ? 'probably ' : ''}${who}: ${why}`;
}
