import type { Parsed } from '../usage-error.ts';
/** The flags of `lockstep demo`, checked together so that all wrong values are reported at once. */
export interface DemoOptions {
  readonly workers: number;
  /** Rank whose process is killed, or undefined for an undisturbed run. */
  readonly kill: number | undefined;
  readonly atStep: number;
  readonly failures: number;
  readonly mode: DemoMode;
  readonly strategy: DemoStrategy;
  readonly json: boolean;
  readonly keep: boolean;
  /** The kubeconfig of the cluster to join; undefined: start one. */
  readonly kubeconfig: string | undefined;
}

export const DEMO_MODES = ['sidecar', 'supervisor'] as const;
export type DemoMode = (typeof DEMO_MODES)[number];

export const DEMO_STRATEGIES = ['InPlaceRestart', 'Recreate', 'BlockingRecreate'] as const;
export type DemoStrategy = (typeof DEMO_STRATEGIES)[number];

/** How a restart in place begins: with a process that has prepared itself, or with a new one. */
export type DemoStandby = 'Warm' | null;

/** The steps of the training run: about 7 s of work for 2 cores. */
export const TRAINING_STEPS = 700;
/** A comparison ends soon after its failure, however long it waits for that. */
export const COMPARISON_STEPS = 100 * TRAINING_STEPS;
export const CHECKPOINT_STEPS = 50;

/** A worker is two processes of 50 MB in sidecar mode. */
export const WORKERS_MAX = 64;
/** Each failure needs some steps of its own, and the run has `TRAINING_STEPS`. */
export const FAILURES_MAX = 10;

/** The texts of the flags as commander read them. */
export interface DemoFlags {
  readonly workers: string;
  readonly kill: string;
  readonly atStep: string;
  readonly failures: string;
  readonly mode: string;
  readonly strategy: string;
  readonly json?: boolean;
  readonly keep?: boolean;
  readonly kubeconfig?: string;
}

export function parseDemoFlags(flags: DemoFlags): Parsed<DemoOptions> {
  const errors: string[] = [];
  const whole = (flag: string, text: string, minimum: number, maximum: number): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    errors.push(`--${flag} is "${text}", allowed is an integer from ${minimum} to ${maximum}`);
    return minimum;
  };
  const oneOf = <T extends string>(flag: string, text: string, allowed: readonly T[]): T => {
    const found = allowed.find((value) => value === text);
    if (found === undefined) {
      errors.push(`--${flag} is "${text}", allowed are ${allowed.join(', ')}`);
    }
    return found ?? (allowed[0] as T);
  };

  const workers = whole('workers', flags.workers, 1, WORKERS_MAX);
  // If the number of workers is wrong, the rank cannot be judged.
  const ranks = errors.length === 0 ? workers : WORKERS_MAX;
  const kill = parseKill(flags.kill, ranks, errors);
  const options: DemoOptions = {
    workers,
    kill,
    atStep: whole('at-step', flags.atStep, 1, TRAINING_STEPS - 1),
    failures: whole('failures', flags.failures, 1, FAILURES_MAX),
    mode: oneOf('mode', flags.mode, DEMO_MODES),
    strategy: oneOf('strategy', flags.strategy, DEMO_STRATEGIES),
    json: flags.json === true,
    keep: flags.keep === true,
    kubeconfig: flags.kubeconfig,
  };
  return errors.length > 0 ? { errors } : { options };
}

function parseKill(text: string, workers: number, errors: string[]): number | undefined {
  if (text === 'none') return undefined;
  const rank = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (rank < workers) return rank;
  errors.push(`--kill is "${text}", allowed is a rank from 0 to ${workers - 1}, or none`);
  return undefined;
}

/** The steps at which a worker is killed: the first at `atStep`, the rest spread to the end. */
export function killSteps(options: DemoOptions): readonly number[] {
  if (options.kill === undefined) return [];
  const apart = (TRAINING_STEPS - options.atStep) / options.failures;
  return Array.from({ length: options.failures }, (_, i) => Math.floor(options.atStep + i * apart));
}
