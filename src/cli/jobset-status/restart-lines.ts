/** Renders the restarts of a JobSet: what ended each epoch, who failed first, what it said last. */
import type { ReportedRestart } from '../../jobset/epoch/restart-request.ts';
import { describeWitness } from '../../jobset/epoch/witness.ts';
import type { RestartRecord, Suspect } from '../../jobset/jobset.ts';
import type { RestartBudget } from '../../jobset/view/restart-budget.ts';
import { printable } from '../../kube/quote.ts';

/**
 * Names who failed first: the suspect if that is certain, otherwise the Pod that was seen to fail.
 * If they are the same, the witness says more.
 */
export function restartLine(record: ReportedRestart): string {
  const { epoch, time, cause, witness, phases } = record;
  const certain = record.suspects?.find(({ confidence }) => confidence === 'Certain');
  const who =
    certain !== undefined && certain.pod !== witness?.pod
      ? `, ${suspectText(certain)}`
      : witness !== undefined
        ? `, ${describeWitness(witness)}`
        : '';
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

/** Why each suspect is one, and the end of the last words. */
export function culpritLines(
  { suspects = [], lastWords }: Pick<RestartRecord, 'suspects' | 'lastWords'>,
  shownWords = SHOWN_WORDS,
): readonly string[] {
  const lines = suspects.map((suspect) => {
    const { why, confidence } = suspect;
    return `suspect (${confidence}): ${suspectText(suspect)}: ${why}`;
  });
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

function suspectText({ worker, pod, node }: Suspect): string {
  const where = node === undefined ? '' : ` on node ${node}`;
  return `${worker}, Pod ${pod}${where}`;
}
