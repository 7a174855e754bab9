/** How far a group is, from what its members report of themselves. */
import { defined } from '@lockstep/kube/json/defined.ts';
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { isMilliseconds, isStep } from '../reported-number.ts';
import { type Progress, parseProgress } from './progress.ts';

/** The steps of a member in a recent time. */
export interface RecentSteps {
  readonly steps: number;
  /** Above 0. */
  readonly ms: number;
}

/** What the hub knows of one member. */
export interface MemberSteps extends Progress {
  /** Absent until the hub has heard of steps for a while. */
  readonly recent?: RecentSteps;
  /** See `GroupProgress`. */
  readonly startMs?: number;
}

export interface GroupProgress {
  /** Among members that report steps; absent: no member does. */
  readonly lowestStep?: number;
  readonly highestStep?: number;
  /** The step of the newest complete checkpoint of any member. */
  readonly checkpoint?: number;
  /** Milliseconds since the earliest report of that checkpoint. */
  readonly checkpointMs?: number;
  /** Milliseconds since the first step of any member. */
  readonly firstStepMs?: number;
  /**
   * Milliseconds from the release to that step, as the hub saw both. Unlike an age it stays the same,
   * however fast the clocks of agents, hub and reader are.
   */
  readonly startMs?: number;
  /**
   * The newest checkpoint that a member reported before the first step or with it: the epoch continues
   * from it. Null: there is none; absent: not all members have reported yet.
   */
  readonly restored?: number | null;
  /** A member has reported something since the newest release. */
  readonly isReporting?: true;
  /** Median of the members whose rate is known. */
  readonly stepsPerSecond?: number;
}

export function groupProgress(members: Iterable<MemberSteps>): GroupProgress {
  let lowestStep: number | undefined;
  let highestStep: number | undefined;
  let checkpoint: number | undefined;
  let checkpointMs: number | undefined;
  let firstStepMs: number | undefined;
  let startMs: number | undefined;
  const rates: number[] = [];
  for (const member of members) {
    const { step, recent } = member;
    if (step !== undefined) {
      lowestStep = Math.min(lowestStep ?? step, step);
      highestStep = Math.max(highestStep ?? step, step);
    }
    if (member.checkpoint !== undefined && member.checkpoint >= (checkpoint ?? 0)) {
      const others = member.checkpoint === checkpoint ? checkpointMs : undefined;
      checkpoint = member.checkpoint;
      checkpointMs = longer(others, member.checkpointMs);
    }
    firstStepMs = longer(firstStepMs, member.firstStepMs);
    startMs ??= member.startMs;
    if (recent !== undefined) rates.push(rateOf(recent));
  }
  const steps = { lowestStep, highestStep, stepsPerSecond: median(rates) };
  return defined({ ...steps, checkpoint, checkpointMs, firstStepMs, startMs });
}

function longer(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

/** Undefined: no worker has reported since it started. */
export function shortestSilence(members: readonly MemberSteps[]): number | undefined {
  let shortest: number | undefined;
  for (const { silentMs } of members) shortest = Math.min(shortest ?? silentMs, silentMs);
  return shortest;
}

/** Ranks that lag behind the others of their members; undefined: no rank reports for itself. */
export function ranksBehind(members: readonly MemberSteps[]): number | undefined {
  let behind: number | undefined;
  for (const { ranks, lag = [] } of members) {
    if (ranks !== undefined) behind = (behind ?? 0) + lag.length;
  }
  return behind;
}

/** Steps a second. */
export function rateOf({ steps, ms }: RecentSteps): number {
  return (steps * 1000) / ms;
}

/** Undefined for anything else: it is only a report. */
export function parseMemberSteps(fields: JsonObject): MemberSteps | undefined {
  const progress = parseProgress(fields);
  if (progress === undefined) return undefined;
  const { recent, startMs } = fields;
  const started = isMilliseconds(startMs) ? { ...progress, startMs } : progress;
  if (!isJsonObject(recent)) return started;
  const { steps, ms } = recent;
  return isStep(steps) && isMilliseconds(ms) && ms > 0
    ? { ...started, recent: { steps, ms } }
    : started;
}

function median(values: number[]): number | undefined {
  values.sort((a, b) => a - b);
  const [low, high] = [values[(values.length - 1) >> 1], values[values.length >> 1]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}
