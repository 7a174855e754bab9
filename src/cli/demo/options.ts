import { Arguments, type Parsed } from '../arguments.ts';
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
  const given = new Arguments();
  const workers = given.whole('--workers', flags.workers, [1, WORKERS_MAX]);
  // If the number of workers is wrong, the rank cannot be judged.
  const last = (Number.isNaN(workers) ? WORKERS_MAX : workers) - 1;
  const ranks = `is a rank from 0 to ${last}, or none`;
  const options: DemoOptions = {
    workers,
    kill: flags.kill === 'none' ? undefined : given.whole('--kill', flags.kill, [0, last], ranks),
    atStep: given.whole('--at-step', flags.atStep, [1, TRAINING_STEPS - 1]),
    failures: given.whole('--failures', flags.failures, [1, FAILURES_MAX]),
    mode: given.oneOf('--mode', flags.mode, DEMO_MODES) ?? 'supervisor',
    strategy: given.oneOf('--strategy', flags.strategy, DEMO_STRATEGIES) ?? 'InPlaceRestart',
    json: flags.json === true,
    keep: flags.keep === true,
    kubeconfig: flags.kubeconfig,
  };
  return given.parsed(options);
}

/** The steps at which a worker is killed: the first at `atStep`, the rest spread to the end. */
export function killSteps(options: DemoOptions): readonly number[] {
  if (options.kill === undefined) return [];
  const apart = (TRAINING_STEPS - options.atStep) / options.failures;
  return Array.from({ length: options.failures }, (_, i) => Math.floor(options.atStep + i * apart));
}
