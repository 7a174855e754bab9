/** Restarts in words. */
import { failureInWords, isFailure, likeliest } from '../../../../jobset/culprits/failure-words.ts';
import type { Suspect } from '../../../../jobset/jobset-status.ts';
import type { ReportedRestart } from '../../../../jobset/view/reported-restarts.ts';
import { causeInWords } from '../../../../jobset/view/restart-words.ts';

/** The member that failed first, certainly or likely; null: it is not known, or none did. */
export function culpritOf(record: ReportedRestart): Suspect | null {
  return (isFailure(record) && likeliest(record.suspects)) || null;
}

/** One line for a mark, and for lists: who failed and how, or why the group restarted. */
export function restartInWords(record: ReportedRestart): string {
  return isFailure(record) ? failureInWords(record) : causeInWords(record);
}
