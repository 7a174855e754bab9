/** Renders the restarts of a JobSet: what ended each epoch, who failed first, what it said last. */

import { printable } from '@lockstep/kube/quote.ts';
import {
  failureInWords,
  isFailure,
  lastWordsTitle,
  othersInWords,
} from '../../jobset/culprits/failure-words.ts';
import { withShortNames } from '../../jobset/roster/short-names.ts';
import type { ReportedRestart } from '../../jobset/view/reported-restarts.ts';
import type { RestartBudget } from '../../jobset/view/restart-budget.ts';
import { momentText } from '../printed-text.ts';

/** What names of members depend on. */
interface Named {
  readonly replicatedJobs: number;
}

/** What ended an epoch: `2026-01-01 00:10:00 UTC epoch 4 ended: worker 5 on node b: ...`. */
export function restartLine(record: ReportedRestart, of: Named): string {
  const { epoch, time, cause } = record;
  return printable(`${momentText(time)} epoch ${epoch} ended: ${failureText(record, of) ?? cause}`);
}

/** `3 of 12 restarts used, with 2 extra`, and how long the last of them have led to nothing. */
export function budgetText(budget: RestartBudget): string {
  const { countedRestarts, maxRestarts, extraRestarts, restartsWithoutProgress } = budget;
  const extra = extraRestarts === 0 ? '' : `, with ${extraRestarts} extra`;
  const vain =
    restartsWithoutProgress === 0 ? '' : `, ${restartsWithoutProgress} in a row without progress`;
  const noun = maxRestarts === 1 ? 'restart' : 'restarts';
  return `${countedRestarts} of ${maxRestarts} ${noun} used${extra}${vain}`;
}

/** Who failed first, or that this is not known; undefined: nobody failed. */
export function failureText(
  record: ReportedRestart,
  { replicatedJobs }: Named,
): string | undefined {
  if (!isFailure(record)) return undefined;
  return withShortNames(failureInWords(record, 'RankAndPod'), replicatedJobs);
}

/** Other suspects, or why there are none, and the last words. */
export function culpritLines(record: ReportedRestart, of: Named): readonly string[] {
  const { whyUnknown, lastWords } = record;
  const others = othersInWords(record, 'RankAndPod');
  const lines = others.map((other) => withShortNames(other, of.replicatedJobs));
  if (whyUnknown !== undefined) lines.push(whyUnknown);
  if (lastWords !== undefined) {
    lines.push(`${lastWordsTitle(lastWords, record)}:`);
    lines.push(...wordsOf(lastWords.text).map((line) => `  ${line}`));
  }
  // Texts of workers may contain anything.
  return lines.map(printable);
}

/** The end of the last words in one line: a traceback ends with what matters. */
export function lastWordsLine(record: ReportedRestart): string | undefined {
  const { lastWords } = record;
  const words = lastWords && wordsOf(lastWords.text).at(-1)?.trim();
  return words && printable(`${lastWordsTitle(lastWords, record, 'Short')}: ${words}`);
}

function wordsOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return lines.map((line) => line.replaceAll('\t', '  '));
}
