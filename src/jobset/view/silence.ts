/** How long the workers of a running group have been silent, if that is more than usual. */
import type { MemberReport } from '../hub/member-report.ts';
import type { JobSet } from '../jobset.ts';
import { asRecorded } from '../overrides/recorded-annotations.ts';
import { type GroupProgress, groupProgress, type MemberSteps } from '../progress/group-progress.ts';
import { progressTimeouts } from '../progress/progress-timeouts.ts';
import { jobSetState } from './jobset-state.ts';

export interface Silence {
  /** Since when, in Unix milliseconds, rounded to seconds. */
  readonly sinceMs: number;
  /** When the workers count as hung, in milliseconds since then; absent: never, or it is not known. */
  readonly limitMs?: number;
  /** No worker has reported anything since the release. */
  readonly isSinceRelease?: true;
  /** The silence is long enough that the group may hang. */
  readonly isLong: boolean;
}

/** Agents report steps at this interval, so a shorter silence may be the agent's. */
const REPORT_NOISE_MS = 5000;
/** Clocks of the operator and of the reader may differ by this much. */
const CLOCK_NOISE_MS = 2000;
/** A worker may be silent for this many usual steps before its silence is reported. */
const USUAL_STEPS = 2;
/** Before its first step a worker loads and compiles for a while. */
const FIRST_STEP_MS = 60_000;
/** Without a time-out, only a silence of this length is a sign of anything. */
const LONG_MS = 10 * 60_000;

/** Counts only members whose agents are connected: the hub has no reports of others. */
export function silenceHeard(
  jobSet: JobSet,
  reports: readonly MemberReport[] = [],
  nowMs: number,
): Silence | undefined {
  const heard = reports.filter(({ channel }) => channel === 'Hub');
  const steps = heard.flatMap(({ progress }) => progress ?? []);
  return heard.length === 0 ? undefined : silenceOf(jobSet, steps, nowMs);
}

/** `members` all report progress. Undefined, too, if no epoch is released. */
export function silenceOf(
  jobSet: JobSet,
  members: readonly MemberSteps[],
  nowMs: number,
): Silence | undefined {
  if (jobSetState(jobSet) !== 'Released') return undefined;
  const { status = {}, metadata } = asRecorded(jobSet);
  const releasedMs = Date.parse(status.syncedTime ?? '');
  if (Number.isNaN(releasedMs)) return undefined;
  const { firstProgressTimeout, progressTimeout } = progressTimeouts(metadata.annotations);
  const releasedForMs = nowMs - releasedMs;
  const current = members.filter(({ silentMs }) => silentMs <= releasedForMs + CLOCK_NOISE_MS);
  if (current.length === 0) {
    const leastMs = firstProgressTimeout === undefined ? FIRST_STEP_MS : REPORT_NOISE_MS;
    if (releasedForMs <= leastMs) return undefined;
    const told = silence(releasedMs, releasedForMs, firstProgressTimeout);
    // A program that never reports steps is not known to hang.
    const isExpected =
      members.length > 0 || (firstProgressTimeout ?? progressTimeout) !== undefined;
    return { ...told, isLong: told.isLong && isExpected, isSinceRelease: true };
  }
  const longest = current.reduce((one, other) => (one.silentMs >= other.silentMs ? one : other));
  const { stepsPerSecond = 0 } = groupProgress(current);
  const usualMs = stepsPerSecond === 0 ? 0 : (USUAL_STEPS * 1000) / stepsPerSecond;
  if (longest.silentMs <= REPORT_NOISE_MS + usualMs) return undefined;
  const limitMs = progressTimeout === 'Auto' ? undefined : progressTimeout;
  const told = silence(nowMs - longest.silentMs, longest.silentMs, limitMs);
  // A phase may have a time-out of its own, which only the agent knows.
  if (longest.phase === undefined) return told;
  return { sinceMs: told.sinceMs, isLong: false };
}

function silence(sinceMs: number, forMs: number, limitMs: number | undefined): Silence {
  const isLong = forMs >= (limitMs === undefined ? LONG_MS : limitMs / 2);
  const rounded = { sinceMs: Math.round(sinceMs / 1000) * 1000, isLong };
  return limitMs === undefined ? rounded : { ...rounded, limitMs };
}

/** Whether a worker is silent for longer than the age of reports and its usual step explain. */
export function isSilent({
  silentMs,
  stepsPerSecond = 0,
}: Pick<MemberSteps, 'silentMs'> & { readonly stepsPerSecond?: number }): boolean {
  const usualMs = stepsPerSecond > 0 ? (USUAL_STEPS * 1000) / stepsPerSecond : 0;
  return silentMs > REPORT_NOISE_MS + usualMs;
}

/**
 * Steps by which the last worker is behind the first, beyond what the age of their reports
 * explains. Also 0 while the rate is not known.
 */
export function stepLag({ lowestStep, highestStep, stepsPerSecond }: GroupProgress): number {
  if (lowestStep === undefined || highestStep === undefined || stepsPerSecond === undefined) {
    return 0;
  }
  const lag = highestStep - lowestStep;
  // A worker that has just reported may be a step ahead of all others.
  return lag > (stepsPerSecond * REPORT_NOISE_MS) / 1000 + 1 ? lag : 0;
}
