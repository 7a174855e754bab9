/** Renders how far a group and its members are. */

import { humanDuration } from '@lockstep/kube/duration.ts';
import { printable } from '@lockstep/kube/quote.ts';
import type { GroupProgress } from '../../jobset/progress/group-progress.ts';
import { hasNoStandbys, WHY_NO_STANDBYS } from '../../jobset/progress/standby.ts';
import { lagInWords } from '../../jobset/ranks/rank-words.ts';
import { isSilent, stepLag } from '../../jobset/view/silence.ts';
import { standbyDeathsInWords } from '../../jobset/view/standby-words.ts';
import type { JobSetView, MemberView, ProgressView } from '../../jobset/view/status-view.ts';

/** `step 1,338`; undefined: no member reports steps. */
export function stepText(group: GroupProgress | null): string | undefined {
  const step = group?.highestStep;
  return step === undefined ? undefined : `step ${withCommas(step)}`;
}

/**
 * `checkpoint of step 1,300, 12 steps/s`, one line about ranks that are behind, and two about warm
 * standbys.
 * The last member's step is shown if it is behind by more than the age of reports explains.
 */
export function groupLines(
  { name, progress: group, syncedEpoch }: Pick<JobSetView, 'name' | 'progress' | 'syncedEpoch'>,
  members: readonly MemberView[],
): readonly string[] {
  const { checkpoint, stepsPerSecond } = group ?? {};
  const lag = group === null ? 0 : stepLag(group);
  const told = [
    syncedEpoch === null || syncedEpoch === 0 ? undefined : `epoch ${syncedEpoch}`,
    checkpoint === undefined ? undefined : `checkpoint of step ${withCommas(checkpoint)}`,
    stepsPerSecond === undefined ? undefined : rateText(stepsPerSecond),
    lag === 0 ? undefined : `${withCommas(lag)} steps between the first and the last worker`,
  ].filter((part) => part !== undefined);
  return [
    ...(told.length === 0 ? [] : [told.join(', ')]),
    ...lagLines(members),
    ...standbyLines(name, members),
  ];
}

/** `behind in their Pods: rank 107 (process 3) at step 328, silent 41s (worker 13)`, if any is. */
function lagLines(members: readonly MemberView[]): readonly string[] {
  const behind = members.flatMap(({ label, progress }) =>
    progress === null ? [] : lagInWords(progress).map((words) => `${words} (worker ${label})`),
  );
  return behind.length === 0 ? [] : [printable(`behind in their Pods: ${firstOf(behind)}`)];
}

/**
 * `standbys: 63 of 64 ready, 1 off: p-3 (a standby exited with 0)`, and which died; no line if no
 * member reports any.
 */
function standbyLines(name: string, members: readonly MemberView[]): readonly string[] {
  const ready = members.filter(({ progress }) => progress?.standby === 'Ready').length;
  const off = members.flatMap(({ label, progress }) =>
    progress !== null && hasNoStandbys(progress)
      ? [`worker ${label} (${WHY_NO_STANDBYS[progress.standby]})`]
      : [],
  );
  const dead = members.flatMap(({ label, progress }) => {
    const words = progress === null ? undefined : standbyDeathsInWords(progress);
    return words === undefined ? [] : [`worker ${label} (${words})`];
  });
  if (ready === 0 && off.length === 0 && dead.length === 0) return [];
  const offText = off.length === 0 ? '' : `, ${off.length} off: ${firstOf(off)}`;
  const look = `lockstep logs ${name} --agent says more`;
  return [
    printable(`standbys: ${ready} of ${members.length} ready${offText}`),
    ...(dead.length === 0 ? [] : [printable(`standbys that failed: ${firstOf(dead)}; ${look}`)]),
  ];
}

/** The first of many, and how many more there are. */
function firstOf(texts: readonly string[]): string {
  const more = texts.length > SHOWN_MEMBERS ? ` and ${texts.length - SHOWN_MEMBERS} more` : '';
  return `${texts.slice(0, SHOWN_MEMBERS).join(', ')}${more}`;
}

/**
 * Columns with their headings, the most important first; none for what no member reports.
 */
export function progressColumns(members: readonly MemberView[]): (readonly string[])[] {
  return COLUMNS.map(([heading, cell]) => [
    heading,
    ...members.map(({ progress }) => (progress === null ? undefined : cell(progress)) ?? NOTHING),
  ]).filter((column) => column.slice(1).some((cell) => cell !== NOTHING));
}

const NOTHING = '-';
const SHOWN_MEMBERS = 4;

/** The phase of a Pod has a column already. */
const COLUMNS: readonly (readonly [string, (of: ProgressView) => string | undefined])[] = [
  ['STEP', ({ step }) => (step === undefined ? undefined : withCommas(step))],
  // A shorter silence says when the report came.
  ['SILENT', (of) => (isSilent(of) ? humanDuration(of.silentMs) : undefined)],
  ['CHECKPOINT', ({ checkpoint: of }) => (of === undefined ? undefined : withCommas(of))],
  ['WORKER PHASE', ({ phase }) => (phase === undefined ? undefined : printable(phase))],
];

function withCommas(step: number): string {
  return step.toLocaleString('en');
}

/** A second, a minute or an hour: the shortest in which there is a step. */
function rateText(stepsPerSecond: number): string {
  if (stepsPerSecond === 0) return '0 steps/s';
  const [seconds, unit] =
    stepsPerSecond >= 1 ? [1, 's'] : stepsPerSecond * 60 >= 1 ? [60, 'min'] : [3600, 'h'];
  const rate = stepsPerSecond * seconds;
  return `${rate < 10 ? rate.toFixed(1) : Math.round(rate)} steps/${unit}`;
}
