/**
 * The state of one probe of one running container: consecutive results against the thresholds.
 * Nothing counts before the first result, a different result begins a new count, and an attempt
 * without a result does not count.
 */
import type { Probe } from '@lockstep/kube/objects/pod.ts';

export type ProbeKind = 'Startup' | 'Liveness' | 'Readiness';

/** `error`: the probe itself broke, which says nothing about the container. */
export type ProbeOutcome = 'success' | 'failure' | 'error';

export interface ProbeState {
  readonly last: 'success' | 'failure' | undefined;
  readonly inARow: number;
}

export const INITIAL_PROBE_STATE: ProbeState = { last: undefined, inARow: 0 };

const DEFAULT_PERIOD_SECONDS = 10;
const DEFAULT_TIMEOUT_SECONDS = 1;
const DEFAULT_FAILURE_THRESHOLD = 3;

/**
 * When a startup probe over the network is tried besides its regular times, after the container's
 * start. Most servers are up long before the next period, so waiting for the probe would only cost
 * time. A failure then is not counted.
 */
const EARLY_ATTEMPTS_MS = [
  0, 50, 100, 200, 350, 500, 700, 1200, 1400, 1600, 1800, 2250, 2500, 2750, 3300, 3600, 4500,
] as const;

/** The next state, and the verdict about the container, if this outcome reached one. */
export function observe(
  probe: Probe,
  kind: ProbeKind,
  state: ProbeState,
  outcome: ProbeOutcome,
): { readonly state: ProbeState; readonly verdict: 'success' | 'failure' | undefined } {
  if (outcome === 'error') return { state, verdict: undefined };
  const inARow = state.last === outcome ? state.inARow + 1 : 1;
  const next = { last: outcome, inARow };
  const threshold = outcome === 'success' ? successThreshold(probe, kind) : failureThreshold(probe);
  return { state: next, verdict: inARow >= threshold ? outcome : undefined };
}

/**
 * Milliseconds from the container's start to the probe's regular attempt number `attempt` (from 0).
 * A startup probe has its first period before the first attempt: initialDelay + period x
 * failureThreshold.
 */
export function attemptMs(probe: Probe, kind: ProbeKind, attempt: number): number {
  const periods = kind === 'Startup' ? attempt + 1 : attempt;
  return delayMs(probe) + periods * periodMs(probe);
}

/** Extra attempts of this probe, in milliseconds after the start. */
export function earlyAttemptsMs(probe: Probe, kind: ProbeKind): readonly number[] {
  if (kind !== 'Startup') return [];
  // A command costs a process, and a delay is there because the container needs it.
  const isOnce = probe.exec !== undefined || delayMs(probe) > 0;
  return isOnce ? [delayMs(probe)] : EARLY_ATTEMPTS_MS;
}

export function timeoutMs(probe: Probe): number {
  return (probe.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
}

function delayMs(probe: Probe): number {
  return (probe.initialDelaySeconds ?? 0) * 1000;
}

function periodMs(probe: Probe): number {
  return (probe.periodSeconds ?? DEFAULT_PERIOD_SECONDS) * 1000;
}

function failureThreshold(probe: Probe): number {
  return probe.failureThreshold ?? DEFAULT_FAILURE_THRESHOLD;
}

function successThreshold(probe: Probe, kind: ProbeKind): number {
  return kind === 'Readiness' ? (probe.successThreshold ?? 1) : 1;
}
