/**
 * Runs the probes of one running container until it is stopped: the startup probe alone until it
 * succeeds, then liveness and readiness, each at its own pace.
 */
import type { Container, Probe } from '@lockstep/kube/objects/pod.ts';
import type { Clock, Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import {
  attemptMs,
  earlyAttemptsMs,
  INITIAL_PROBE_STATE,
  observe,
  type ProbeKind,
  type ProbeOutcome,
  type ProbeState,
  timeoutMs,
} from './probe-worker.ts';

/** The result of one attempt. */
export interface ProbeResult {
  readonly outcome: ProbeOutcome;
  /** Why it failed, or a warning about a success. */
  readonly note: string;
  /** It counts as a success, and still has to be reported. */
  readonly isWarning?: boolean;
}

export interface ProberOptions {
  readonly clock: Clock;
  /** Carries one attempt out. Never rejects. */
  readonly attempt: (probe: Probe, timeoutMs: number) => Promise<ProbeResult>;
  /** A threshold was reached. */
  readonly onVerdict: (kind: ProbeKind, verdict: 'success' | 'failure') => void;
  readonly onFailure: (kind: ProbeKind, note: string) => void;
  readonly onWarning: (kind: ProbeKind, note: string) => void;
}

export interface Prober {
  stop(): void;
}

export function startProber(container: Container, options: ProberOptions): Prober {
  const loops: ProbeLoop[] = [];
  const begin = (kind: ProbeKind, probe: Probe | undefined): void => {
    if (probe !== undefined) loops.push(new ProbeLoop(kind, probe, options));
  };
  const beginOthers = (): void => {
    begin('Liveness', container.livenessProbe);
    begin('Readiness', container.readinessProbe);
  };
  if (container.startupProbe === undefined) {
    beginOthers();
  } else {
    const { onVerdict } = options;
    const startup = new ProbeLoop('Startup', container.startupProbe, {
      ...options,
      onVerdict: (kind, verdict) => {
        startup.stop();
        onVerdict(kind, verdict);
        if (verdict === 'success') beginOthers();
      },
    });
    loops.push(startup);
  }
  return {
    stop: () => {
      for (const loop of loops) loop.stop();
    },
  };
}

class ProbeLoop {
  readonly #kind: ProbeKind;
  readonly #probe: Probe;
  readonly #options: ProberOptions;
  readonly #startMs: number;
  #state: ProbeState = INITIAL_PROBE_STATE;
  #verdict: 'success' | 'failure' | undefined;
  #timer: Timer | undefined;
  #early: Timer[] = [];
  #isBusy = false;
  /** The attempt under way is a regular one. */
  #isCounted = false;
  #isStopped = false;

  constructor(kind: ProbeKind, probe: Probe, options: ProberOptions) {
    this.#kind = kind;
    this.#probe = probe;
    this.#options = options;
    this.#startMs = options.clock.monotonic();
    this.#schedule(0);
    this.#early = earlyAttemptsMs(probe, kind).map((ms) =>
      options.clock.setTimer(ms, () => void this.#try(false)),
    );
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    for (const timer of this.#early) timer.cancel();
  }

  #schedule(attempt: number): void {
    const { clock } = this.#options;
    const dueMs = this.#startMs + attemptMs(this.#probe, this.#kind, attempt);
    this.#timer = clock.setTimer(Math.max(0, dueMs - clock.monotonic()), () => {
      const done = this.#try(true);
      void done.then(() => {
        if (!this.#isStopped) this.#schedule(this.#nextAttempt(attempt));
      });
    });
  }

  /** The first regular attempt that is still to come: a slow one skips the next. */
  #nextAttempt(attempt: number): number {
    const elapsedMs = this.#options.clock.monotonic() - this.#startMs;
    let next = attempt + 1;
    while (attemptMs(this.#probe, this.#kind, next) <= elapsedMs) next++;
    return next;
  }

  async #try(isCounted: boolean): Promise<void> {
    if (this.#isStopped) return;
    // One at a time: a regular attempt that is due meanwhile is the one under way.
    this.#isCounted ||= isCounted;
    if (this.#isBusy) return;
    this.#isBusy = true;
    const result = await this.#options.attempt(this.#probe, timeoutMs(this.#probe));
    this.#isBusy = false;
    const counts = this.#isCounted || result.outcome === 'success';
    this.#isCounted = false;
    if (!this.#isStopped && counts) this.#count(result);
  }

  #count({ outcome, note, isWarning }: ProbeResult): void {
    const { state, verdict } = observe(this.#probe, this.#kind, this.#state, outcome);
    this.#state = state;
    if (outcome === 'failure') this.#options.onFailure(this.#kind, note);
    if (isWarning === true) this.#options.onWarning(this.#kind, note);
    if (verdict === undefined || verdict === this.#verdict) return;
    this.#verdict = verdict;
    this.#options.onVerdict(this.#kind, verdict);
  }
}
