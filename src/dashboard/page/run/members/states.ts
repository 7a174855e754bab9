/** What a member does, in a word, a shape and a colour, in each of the ways to colour the grid. */
import { type MemberState, memberState } from '../../../../jobset/view/member-state.ts';
import type { JobSetView, MemberView } from '../../../../jobset/view/status-view.ts';
import type { RunMember } from '../../../messages/run.ts';

/** What the colours of the cells distinguish. */
export type Coloring = 'State' | 'Step' | 'Silence' | 'Epoch';
export const COLORINGS: readonly [Coloring, ...Coloring[]] = ['State', 'Step', 'Silence', 'Epoch'];

/** How a cell is drawn: by `shape`, so that colour only repeats what the shape says. */
export interface Look {
  readonly label: string;
  readonly shape: Shape;
  /** A custom property of the page's style. */
  readonly color: string;
}

/** `Level0` is a full cell that is well; a higher level is filled less. */
export type Shape =
  | 'Full'
  | 'Ring'
  | 'Half'
  | 'Dot'
  | 'Cross'
  | 'Check'
  | 'Slash'
  | 'Minus'
  | 'Bang'
  | 'Level0'
  | 'Level1'
  | 'Level2'
  | 'Level3';

export const STATES = {
  Failed: { label: 'failed', shape: 'Cross', color: '--bad' },
  NodeLost: { label: 'on a lost node', shape: 'Bang', color: '--bad' },
  Held: { label: 'held by something', shape: 'Slash', color: '--warn' },
  Kept: { label: 'has ended, Pod kept', shape: 'Level3', color: '--idle' },
  Ending: { label: 'is being deleted', shape: 'Minus', color: '--idle' },
  Pending: { label: 'Pod not running yet', shape: 'Dot', color: '--idle' },
  Behind: { label: 'not at the new epoch yet', shape: 'Ring', color: '--warn' },
  AtBarrier: { label: 'waits at the barrier', shape: 'Half', color: '--accent' },
  Running: { label: 'runs', shape: 'Full', color: '--time-productive' },
  Succeeded: { label: 'succeeded', shape: 'Check', color: '--good' },
} as const satisfies Readonly<Record<MemberState, Look>>;

/** What cells are compared with. */
export type RunState = Pick<JobSetView, 'state' | 'epoch' | 'progress' | 'releasedFirst'>;

const LEVELS = [
  { shape: 'Level0', color: '--time-productive' },
  { shape: 'Level1', color: '--accent' },
  { shape: 'Level2', color: '--warn' },
  { shape: 'Level3', color: '--bad' },
] as const;

const NOT_TOLD = { label: 'not told', shape: 'Dot', color: '--idle' } as const;

function levels(labels: readonly [string, string, string, string]): readonly Look[] {
  return [...LEVELS.map((level, i) => ({ ...level, label: labels[i] ?? '' })), NOT_TOLD];
}

/** The looks of each way, in the order of the legend. */
export const LOOKS: Readonly<Record<Coloring, readonly Look[]>> = {
  State: Object.values(STATES),
  Step: levels([
    'at most 1 behind',
    '2 to 9 steps behind',
    '10 to 99 behind',
    '100 and more behind',
  ]),
  Silence: levels(['told in the last 10 s', 'silent up to 1 min', 'up to 5 min', 'longer']),
  Epoch: levels(['at the current epoch', 'one behind', 'two behind', 'further behind']),
};

const STATE_NAMES = Object.keys(STATES) as readonly MemberState[];
const [STEPS, SILENCES_MS, EPOCHS] = [
  [1, 9, 99],
  [10_000, 60_000, 300_000],
  [0, 1, 2],
];

/** An index into the looks of the coloring. `silentMs` is as of now; null: it reported nothing. */
export function lookOf(
  coloring: Coloring,
  member: MemberView,
  group: RunState,
  silentMs: number | null,
): number {
  switch (coloring) {
    case 'State':
      return STATE_NAMES.indexOf(memberState(member, group));
    case 'Step':
      return levelOf(behind(group.progress?.highestStep, member.progress?.step), STEPS);
    case 'Silence':
      return levelOf(silentMs ?? undefined, SILENCES_MS);
    case 'Epoch':
      return levelOf(behind(group.epoch ?? undefined, member.epoch ?? undefined), EPOCHS);
  }
}

function behind(first: number | undefined, own: number | undefined): number | undefined {
  return first === undefined || own === undefined ? undefined : Math.max(0, first - own);
}

/** The last look is for what is not known. */
function levelOf(value: number | undefined, bounds: readonly number[] = []): number {
  if (value === undefined) return LEVELS.length;
  const level = bounds.findIndex((bound) => value <= bound);
  return level < 0 ? bounds.length : level;
}

/** Milliseconds since its worker reported anything; null: it never did. It grows between messages. */
export function silenceOf(
  { progress, atMs }: Pick<RunMember, 'progress' | 'atMs'>,
  nowMs: number,
): number | null {
  return progress === null ? null : progress.silentMs + Math.max(0, nowMs - atMs);
}
