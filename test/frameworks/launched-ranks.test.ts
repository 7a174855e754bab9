/**
 * Faults of one rank in two Pods with four ranks each, which torchrun or the agent has started. The
 * record of the restart names the rank, or says less, and never takes an innocent Pod for certain.
 * `npm run test:frameworks -- --repeat N launched-ranks` prints how often it named which.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Suspect } from '../../src/jobset/jobset-status.ts';
import { type ClusterUnderTest, startCluster } from '../e2e/local-cluster.fixture.ts';
import {
  CHECKPOINT_STEPS,
  type Framework,
  FrameworkRun,
  type RunOptions,
} from './framework-run.fixture.ts';

const REPEATS = Number(process.env['LOCKSTEP_TEST_FRAMEWORK_REPEATS'] ?? 1);
const TORCH = process.env['LOCKSTEP_TEST_TORCH_PYTHON'];
const ROUNDS = Array.from({ length: REPEATS }, (_, index) => index);
const RANKS_PER_POD = 4;
const WORLD_SIZE = 8;
const LIMIT_MS = 300_000;

const ON_TORCH = {
  name: 'ranks',
  program: 'pytorch/train.py',
  configMap: 'pytorch-train',
  portVariable: 'MASTER_PORT',
  python: TORCH ?? '',
  ranksPerPod: RANKS_PER_POD,
  worldSize: WORLD_SIZE,
};
const BY_AGENT: Framework = { ...ON_TORCH, manifest: 'pytorch/ranks.yaml' };
const BY_TORCHRUN: Framework = {
  ...ON_TORCH,
  manifest: 'pytorch/torchrun.yaml',
  // Without them torchrun 1.13 fails on Python 3.11, where loops over flags skip the zero.
  launcherArguments: ['--redirects=1', '--tee=1'],
};

/** How a record names the rank of the fault, from best to worst. */
const OUTCOMES = [
  'the rank',
  'the Pod',
  'nobody',
  'another, as likely',
  'another, as certain',
] as const;
type Outcome = (typeof OUTCOMES)[number];
const ANY_BUT_CERTAIN = OUTCOMES.slice(0, -1);

/** Faults of one rank, and whether its processes end so soon after it that torchrun may hide it. */
const FAULTS: readonly (readonly [string, NodeJS.Signals, 'Hidden' | 'Seen'])[] = [
  ['SIGKILL', 'SIGKILL', 'Hidden'],
  // `fault/sitecustomize.py` makes these of signals.
  ['an exception', 'SIGUSR1', 'Hidden'],
  ['an exit with 0', 'SIGUSR2', 'Hidden'],
  ['an endless loop', 'SIGIO', 'Seen'],
  ['SIGSTOP', 'SIGSTOP', 'Seen'],
  ['a segmentation fault', 'SIGSEGV', 'Hidden'],
];

interface Way {
  readonly way: string;
  readonly framework: Framework;
  readonly options: RunOptions;
  /** The faults that are tried without `--repeat`. */
  readonly once: readonly string[];
  /** The outcomes that are right after a fault whose rank may be hidden, and after others. */
  readonly right: Readonly<Record<'Hidden' | 'Seen', readonly Outcome[]>>;
}

const WAYS: readonly Way[] = [
  {
    way: 'started by the agent',
    framework: BY_AGENT,
    options: { name: 'by-agent', isCold: true },
    once: ['SIGKILL', 'an exit with 0'],
    right: { Hidden: ['the rank'], Seen: ['the rank'] },
  },
  {
    way: 'torchrun, each rank reports',
    framework: BY_TORCHRUN,
    options: { name: 'all-report' },
    once: ['an exception', 'SIGSTOP', 'a segmentation fault'],
    right: { Hidden: ['the rank', 'the Pod'], Seen: ['the rank'] },
  },
  // Without the package nothing is promised but that no wrong one is certain, so few runs show little.
  ...(REPEATS === 1
    ? []
    : [
        {
          way: 'torchrun, one rank of a Pod reports',
          framework: BY_TORCHRUN,
          options: { name: 'one-reports', isWithoutRanks: true },
          once: [],
          right: { Hidden: ANY_BUT_CERTAIN, Seen: ANY_BUT_CERTAIN },
        },
      ]),
];

function outcomeOf(suspects: readonly Suspect[], rank: number): Outcome {
  const [first] = suspects;
  if (first === undefined) return 'nobody';
  if (first.completionIndex !== Math.floor(rank / RANKS_PER_POD)) {
    return first.confidence === 'Certain' ? 'another, as certain' : 'another, as likely';
  }
  if (first.process === undefined) return 'the Pod';
  if (first.process === rank % RANKS_PER_POD && first.rank === rank) return 'the rank';
  return 'another, as likely';
}

const counts = new Map<string, number>();
let cluster: ClusterUnderTest;
beforeAll(async () => {
  if (TORCH !== undefined) cluster = await startCluster();
});
afterAll(async () => {
  if (TORCH !== undefined) await cluster.stop();
  for (const [what, count] of counts) process.stdout.write(`${what}: ${count} of ${REPEATS}\n`);
});

describe.skipIf(TORCH === undefined).each(WAYS)(
  'the record of a restart, $way,',
  ({ way, framework, options, once, right }) => {
    let run: FrameworkRun;
    beforeAll(async () => {
      run = await FrameworkRun.start(framework, cluster.client, options);
    });
    afterAll(() => run.remove());

    describe.each(ROUNDS)('(round %i)', (round) => {
      it.each(FAULTS.filter(([name]) => REPEATS > 1 || once.includes(name)))(
        'names a rank after %s',
        // A second try would count twice.
        { timeout: LIMIT_MS, retry: REPEATS === 1 ? 1 : 0 },
        async (name, signal, kind) => {
          const rank = (3 * round + FAULTS.findIndex(([each]) => each === name) + 1) % WORLD_SIZE;
          const epoch = (run.status.deprecatedEpoch ?? 0) + 1;
          // Launchers tear lines of their ranks now and then, so not every rank is seen to start.
          await run.until(`a checkpoint in epoch ${epoch}`, () => {
            const isBeyond = run
              .lives(epoch)
              .filter(({ from, lastStep = 0 }) => lastStep > from + CHECKPOINT_STEPS);
            return isBeyond.length >= RANKS_PER_POD;
          });
          process.kill(run.process(rank), signal);
          await run.until('the next epoch is released', () => run.status.syncedEpoch === epoch + 1);
          const suspects = run.record(epoch)?.suspects ?? [];
          const outcome = outcomeOf(suspects, rank);
          const what = `${way}, ${name}: ${outcome}`;
          counts.set(what, (counts.get(what) ?? 0) + 1);
          process.stdout.write(`${what}; rank ${rank}: ${JSON.stringify(suspects)}\n`);
          expect(right[kind]).toContain(outcome);
        },
      );
    });
  },
);
