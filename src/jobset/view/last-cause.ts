/** Why the worker of a member ended last. It never contradicts the records of the group. */
import type { MemberReport } from '../hub/member-report.ts';
import type { RestartRecord } from '../jobset-status.ts';
import type { Notice } from '../worker-end/notice.ts';
import { type ShownEnd, shownEnd } from '../worker-end/shown-end.ts';

/** At most one of `hung`, `exitCode` and `signal`; none if unknown. */
export interface LastCause {
  /** The epoch in which the worker ran. */
  readonly epoch: number;
  /** How the worker hung, in words. Its agent killed it for that. */
  readonly hung?: string;
  readonly exitCode?: number;
  readonly signal?: string;
  /** Why the worker is a suspect of that epoch, in words. */
  readonly why?: string;
  /** How sure it is that this suspect failed first. */
  readonly confidence?: 'Certain' | 'Likely';
  /** Others are the suspects of that epoch, and its worker only followed. */
  readonly isFollower?: true;
}

/** Null: no failure of this member is known. `history` has the newest record first. */
export function lastCauseOf(
  pod: string,
  report: MemberReport | undefined,
  notice: Notice | undefined,
  history: readonly RestartRecord[],
): LastCause | null {
  const last = newest([
    told(report?.cause),
    told(shownEnd(notice?.end)),
    ...history.flatMap((record) => [witnessed(record, pod), suspected(record, pod)]),
  ]);
  if (last === null) return null;
  const { suspects = [] } = history.find(({ epoch }) => epoch === last.epoch) ?? {};
  if (suspects.length === 0) return last;
  const suspect = suspects.find((one) => one.pod === pod);
  if (suspect === undefined) return { ...last, isFollower: true };
  const { why, confidence } = suspect;
  return { ...last, why, confidence };
}

/** `epoch 5: was killed by SIGKILL`. It may hold any text of a worker. */
export function lastCauseInWords(cause: LastCause): string {
  const sure = cause.confidence === 'Likely' ? 'likely first, ' : '';
  return `epoch ${cause.epoch}: ${sure}${howInWords(cause)}`;
}

function howInWords({ isFollower, why, hung, signal, exitCode }: LastCause): string {
  if (isFollower === true) return 'followed another';
  if (why !== undefined) return why;
  if (hung !== undefined) return `hung, ${hung}`;
  if (signal !== undefined) return `was killed by ${signal}`;
  return exitCode === undefined ? 'failed' : `exited with code ${exitCode}`;
}

/**
 * Among causes of one epoch the first wins: an agent knows better than a witness. A hang says more
 * than the signal that ended it.
 */
function newest(causes: readonly (LastCause | undefined)[]): LastCause | null {
  let last: LastCause | null = null;
  for (const cause of causes) {
    const isNews = cause !== undefined && (last === null || cause.epoch > last.epoch);
    const saysMore = cause?.hung !== undefined && cause.epoch === last?.epoch;
    if (isNews || (saysMore && last?.hung === undefined)) last = cause;
  }
  return last;
}

function told(shown: ShownEnd | undefined): LastCause | undefined {
  if (shown === undefined) return undefined;
  const { epoch, end, hung } = shown;
  return { epoch, ...(hung === undefined ? end : { hung }) };
}

/** Sidecars do not see how a worker ends, but the witness of a restart may show it. */
function witnessed({ epoch, witness }: RestartRecord, pod: string): LastCause | undefined {
  if (witness?.pod !== pod) return undefined;
  const { exitCode, signal, message } = witness;
  if (message !== undefined) return { epoch, hung: message };
  if (signal !== undefined) return { epoch, signal };
  return exitCode === null ? { epoch } : { epoch, exitCode };
}

/** A worker that only stood still never reported its end. */
function suspected({ epoch, suspects }: RestartRecord, pod: string): LastCause | undefined {
  return suspects?.some((suspect) => suspect.pod === pod) === true ? { epoch } : undefined;
}
