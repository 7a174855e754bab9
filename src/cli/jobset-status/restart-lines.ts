/** Renders the restarts of a JobSet: what ended each epoch, who failed first, what it said last. */
import { failureInWords, isFailure, othersInWords } from '../../jobset/culprits/failure-words.ts';
import type { ReportedRestart } from '../../jobset/epoch/restart-request.ts';
import type { RestartBudget } from '../../jobset/view/restart-budget.ts';
import { printable } from '../../kube/quote.ts';

/** What ended an epoch. */
export function restartLine(record: ReportedRestart): string {
  const { epoch, time, cause, phases } = record;
  const failure = failureText(record);
  const who = failure === undefined ? '' : `; ${failure}`;
  const announceMs = phases?.announceMs;
  const took = announceMs === undefined ? '' : `; all had announced after ${announceMs} ms`;
  return printable(`  ${time} epoch ${epoch} ended: ${cause}${who}${took}`);
}

/** `3 of 12 restarts used, with 2 extra`, and how long the last of them have led to nothing. */
export function budgetText({
  countedRestarts,
  maxRestarts,
  extraRestarts,
  restartsWithoutProgress,
}: RestartBudget): string {
  const extra = extraRestarts === 0 ? '' : `, with ${extraRestarts} extra`;
  const vain =
    restartsWithoutProgress === 0 ? '' : `, ${restartsWithoutProgress} in a row without progress`;
  const noun = maxRestarts === 1 ? 'restart' : 'restarts';
  return `${countedRestarts} of ${maxRestarts} ${noun} used${extra}${vain}`;
}

/** Who failed first, or that this is not known; undefined: nobody failed. */
export function failureText(record: ReportedRestart): string | undefined {
  return isFailure(record) ? failureInWords(record, 'RankAndPod') : undefined;
}

/** Other suspects, or why there are none, and the end of the last words. */
export function culpritLines(record: ReportedRestart, shownWords = SHOWN_WORDS): readonly string[] {
  const { whyUnknown, lastWords } = record;
  const lines = [...othersInWords(record, 'RankAndPod')];
  if (whyUnknown !== undefined) lines.push(whyUnknown);
  if (lastWords !== undefined) {
    lines.push(`last words of Pod ${lastWords.pod}:`, ...lastLines(lastWords.text, shownWords));
  }
  // Texts of workers may contain anything.
  return lines.map((line) => printable(`    ${line}`));
}

/** Lines of last words; a traceback ends with what matters. */
const SHOWN_WORDS = 8;

function lastLines(text: string, shownWords: number): readonly string[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return lines.slice(-shownWords).map((line) => `  ${line.replaceAll('\t', '  ')}`);
}
