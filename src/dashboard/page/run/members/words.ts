/** Members in words. */

import { lagInWords, processInWords } from '../../../../jobset/ranks/rank-words.ts';
import { lastCauseInWords } from '../../../../jobset/view/last-cause.ts';
import { standbyInWords } from '../../../../jobset/view/standby-words.ts';
import type { MemberView } from '../../../../jobset/view/status-view.ts';
import type { RunMember } from '../../../messages/run.ts';
import { rateText, rough } from '../words.ts';
import type { Cell } from './cells.ts';
import { silenceOf } from './states.ts';

/** `train-workers-0/12`: its Job and index. */
export function memberName({ replicatedJob, job, index }: MemberView): string {
  return `${job === '' ? replicatedJob : job}/${index ?? '-'}`;
}

/** `rank 107 (process 3)`, or `process 3` where a launcher started it. */
export function processName({ ranks }: Pick<MemberView, 'ranks'>, process: number): string {
  return processInWords(process, ranks && ranks.first + process);
}

/** `rank 107 (process 3) of train-workers-0/12`, or the name of the member where the cell is all of it. */
export function cellName(cell: MemberView & Pick<Cell, 'process'>): string {
  const { process } = cell;
  const member = memberName(cell);
  return process === undefined ? member : `${processName(cell, process)} of ${member}`;
}

/** What is known of a member, in the order in which a reader wants it; null: it is not known. */
export function factsOf(
  member: RunMember,
  nowMs: number,
): readonly (readonly [name: string, text: string | null])[] {
  const { pod, node, isNodeLost, phase, heldBy, epoch, channel, lastCause, progress } = member;
  const { step, checkpoint, checkpointMs, firstStepMs } = progress ?? {};
  const silentMs = silenceOf(member, nowMs);
  const sinceMs = Math.max(0, nowMs - member.atMs);
  const facts: readonly (readonly [string, string | null])[] = [
    ['Pod', pod],
    [
      'Node',
      node === null ? 'none yet' : isNodeLost ? `${node}, which is not ready or gone` : node,
    ],
    ['Phase', phase],
    ['Held by', heldBy],
    ['Epoch', epoch === null ? null : `${epoch} announced`],
    ['Channel', channel === null ? null : channel === 'Hub' ? 'the hub' : 'the API server'],
    ['Step', step === undefined ? null : step.toLocaleString('en')],
    ['Rate', progress?.stepsPerSecond === undefined ? null : rateText(progress.stepsPerSecond)],
    [
      'Checkpoint',
      checkpoint === undefined
        ? null
        : `of step ${checkpoint.toLocaleString('en')}${checkpointMs === undefined ? '' : `, told ${rough(checkpointMs + sinceMs)} ago`}`,
    ],
    ['Doing', progress?.phase ?? null],
    ['Ranks', ranksText(member)],
    ['Behind', (progress && lagInWords(progress).join('; ')) || null],
    ['Silent for', silentMs === null ? null : silenceText(silentMs)],
    ['First step', firstStepMs === undefined ? null : `${rough(firstStepMs + sinceMs)} ago`],
    ['Standby', (progress && standbyInWords(progress)) ?? null],
    ['Last end', lastCause === null ? 'no failure is known' : lastCauseInWords(lastCause)],
  ];
  return facts.filter(([, text]) => text !== null);
}

/** `104 to 111, 8 report`: the ranks that its agent starts, and those that report for themselves. */
function ranksText({ ranks, progress }: RunMember): string | null {
  const { first, count } = ranks ?? { first: 0, count: 0 };
  const started = count < 2 ? `${first}` : `${first} to ${first + count - 1}`;
  const parts = [
    ranks === undefined ? '' : started,
    progress?.ranks === undefined ? '' : `${progress.ranks} report`,
  ];
  return parts.filter((part) => part !== '').join(', ') || null;
}

/** Agents tell of it each few seconds: what is shorter says nothing of the worker. */
const SHORT_SILENCE_MS = 10_000;

export function silenceText(ms: number): string {
  return ms < SHORT_SILENCE_MS ? 'under 10 s' : rough(ms);
}

/** One line for a cell: what is asked for first. */
export function cellInWords(
  cell: MemberView & Pick<Cell, 'process'>,
  look: string,
  silentMs: number | null,
): string {
  const { step } = cell.progress ?? {};
  const parts = [
    cellName(cell),
    look,
    step === undefined ? '' : `step ${step.toLocaleString('en')}`,
    silentMs === null ? '' : `silent ${silenceText(silentMs)}`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}
