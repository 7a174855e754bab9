/**
 * The state of a JobSet for a person on call: `Starting 2 of 4`, `Backing off 23s`. Lists, `status`
 * and the page use these words and this order.
 */
import { humanDuration } from '@lockstep/kube/duration.ts';
import type { Condition } from '@lockstep/kube/meta.ts';
import { groupSize } from '../epoch/group-state.ts';
import { backoffEndMs } from '../epoch/restart-history.ts';
import type { JobSet } from '../jobset.ts';
import { isManagedByUs } from '../manager.ts';
import type { ConditionType } from '../status/conditions.ts';
import { epochsOf } from '../status/epochs.ts';
import { jobSetState } from './jobset-state.ts';
import type { Silence } from './silence.ts';

/** The most urgent first: a JobSet that can still be saved comes before one that has failed. */
export const STATE_KINDS = [
  'Hung',
  'Stuck',
  'BackingOff',
  'Failed',
  'AtBarrier',
  'Starting',
  'Running',
  'Suspended',
  'Completed',
] as const;
export type StateKind = (typeof STATE_KINDS)[number];

export interface ShownState {
  readonly kind: StateKind;
  /** The words without times that change: `Starting 2 of 4`, `Backing off`. */
  readonly text: string;
  /** When the back-off ends, in Unix milliseconds. */
  readonly untilMs?: number;
  /** How long its workers have been silent, if that is unusual. */
  readonly silence?: Silence;
  /** The reason in a sentence. It may hold any text of a user. */
  readonly why?: string;
}

/** Facts beside the JobSet. */
export interface Seen {
  /** Members whose Pods are ready, or have succeeded; null: Jobs may not be read. */
  readonly started?: number | null;
  /** Members that have announced the current epoch; absent: not known. */
  readonly announced?: number;
  /** Why the first member that waits does not start; absent: none waits, or it is not known. */
  readonly held?: { readonly reason: string; readonly why: string };
  /** How long its workers have been silent; absent: not for long, or not known. */
  readonly silence?: Silence | undefined;
}

export function shownState(jobSet: JobSet, seen: Seen, nowMs: number): ShownState {
  const { status = {} } = jobSet;
  const state = jobSetState(jobSet);
  const size = groupSize(jobSet);
  if (state === 'Completed' || state === 'Failed' || state === 'Suspended') {
    return { kind: state, text: state };
  }
  const stuck = stuckBy(status.conditions ?? []) ?? unseen(jobSet, nowMs);
  if (stuck !== undefined) return stuck;
  const { started = null, announced, held, silence } = seen;
  if (held !== undefined) return { kind: 'Stuck', text: held.reason, why: held.why };
  if (state === 'Released') {
    if (silence === undefined) return RUNNING;
    return silence.isLong ? { kind: 'Hung', text: 'Hung?', silence } : { ...RUNNING, silence };
  }
  if (state === 'Running') {
    const isRecreating = isOn(status.conditions ?? [], 'RestartingJobSet');
    if (isRecreating) return { kind: 'Starting', text: 'Recreating Jobs' };
    return started === null || started >= size
      ? RUNNING
      : { kind: 'Starting', text: counted('Starting', started, size) };
  }
  if (epochsOf(status).deprecated === 0) {
    return { kind: 'Starting', text: counted('Starting', announced ?? started, size) };
  }
  const untilMs = backoffEndMs(jobSet);
  if (untilMs !== undefined && nowMs < untilMs)
    return { kind: 'BackingOff', text: 'Backing off', untilMs };
  return { kind: 'AtBarrier', text: counted('At barrier', announced ?? null, size) };
}

/**
 * The words with the countdown of a back-off, or with the silence: `Hung? silent 7s of 10s`. The
 * brief form leaves out since when there was no step.
 */
export function stateWords(shown: ShownState, nowMs: number, isBrief = false): string {
  const { text, untilMs, silence } = shown;
  if (silence !== undefined) {
    return `${text}${shown.kind === 'Hung' ? '' : ','} ${silenceWords(silence, nowMs, isBrief)}`;
  }
  const leftMs = (untilMs ?? nowMs) - nowMs;
  return leftMs <= 0 ? text : `${text} ${humanDuration(Math.ceil(leftMs / 1000) * 1000)}`;
}

function silenceWords(
  { sinceMs, limitMs, isSinceRelease }: Silence,
  nowMs: number,
  isBrief: boolean,
): string {
  const forMs = Math.max(0, nowMs - sinceMs);
  const time = `${humanDuration(forMs)}${limitMs === undefined ? '' : ` of ${humanDuration(limitMs)}`}`;
  if (isSinceRelease !== true) return `silent ${time}`;
  return `no step for ${time}${isBrief ? '' : ' since the release'}`;
}

/** The most urgent first. */
export function compareUrgency(a: ShownState, b: ShownState): number {
  return STATE_KINDS.indexOf(a.kind) - STATE_KINDS.indexOf(b.kind);
}

const RUNNING: ShownState = { kind: 'Running', text: 'Running' };

/** Conditions that last until somebody acts. The first True one counts; its words, or its reason. */
const STUCK: readonly (readonly [ConditionType, string | undefined])[] = [
  ['Rejected', 'Rejected'],
  ['NameConflict', 'Name conflict'],
  ['JobsRefused', 'Jobs refused'],
  ['MemberNotStarting', undefined],
];

function stuckBy(conditions: readonly Condition[]): ShownState | undefined {
  for (const [type, words] of STUCK) {
    const condition = isOn(conditions, type);
    if (condition === undefined) continue;
    return { kind: 'Stuck', text: words ?? condition.reason, why: condition.message };
  }
  return undefined;
}

/** Without a status for this long, no operator has seen the JobSet: they write one at once. */
const UNSEEN_MS = 15_000;

function unseen({ metadata, spec, status }: JobSet, nowMs: number): ShownState | undefined {
  const ageMs = nowMs - Date.parse(metadata.creationTimestamp ?? '');
  const { restarts, conditions, replicatedJobsStatus } = status ?? {};
  const isSeen = (restarts ?? conditions ?? replicatedJobsStatus) !== undefined;
  if (isSeen || !(ageMs > UNSEEN_MS) || !isManagedByUs(spec)) return undefined;
  const why = 'no operator has written its status: "lockstep doctor" says what is missing';
  return { kind: 'Stuck', text: 'No operator?', why };
}

function isOn(conditions: readonly Condition[], type: ConditionType): Condition | undefined {
  return conditions.find((each) => each.type === type && each.status === 'True');
}

function counted(what: string, count: number | null, size: number): string {
  return count === null ? what : `${what} ${Math.min(count, size)} of ${size}`;
}
