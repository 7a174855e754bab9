/**
 * Faults of one rank below real launchers: two Pods with four ranks each below torchrun. The record of
 * the restart names the rank, or says less, and never takes an innocent Pod for certain. `npm run
 * test:frameworks -- --repeat N launched-ranks` prints how often it named which.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Suspect } from '../../src/jobset/jobset-status.ts';
import { type ClusterUnderTest, startCluster } from '../e2e/local-cluster.fixture.ts';
import { CHECKPOINT_STEPS, type Framework, FrameworkRun } from './framework-run.fixture.ts';

const REPEATS = Number(process.env['LOCKSTEP_TEST_FRAMEWORK_REPEATS'] ?? 1);
const TORCH = process.env['LOCKSTEP_TEST_TORCH_PYTHON'];
const ROUNDS = Array.from({ length: REPEATS }, (_, index) => index);
const RANKS_PER_POD = 4;
const WORLD_SIZE = 8;
const LIMIT_MS = 300_000;

const TORCHRUN: Framework = {
  name: 'ranks',
  manifest: 'pytorch/torchrun.yaml',
  program: 'pytorch/train.py',
  configMap: 'pytorch-train',
  portVariable: 'MASTER_PORT',
  python: TORCH ?? '',
  ranksPerPod: RANKS_PER_POD,
  worldSize: WORLD_SIZE,
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

/** Faults of one rank, and the outcomes that are right with the package in each rank. */
const FAULTS: readonly (readonly [string, NodeJS.Signals, readonly Outcome[]])[] = [
  ['SIGKILL', 'SIGKILL', ['the rank', 'the Pod']],
  // `fault/sitecustomize.py` makes these of signals.
  ['an exception', 'SIGUSR1', ['the rank', 'the Pod']],
  ['an exit with 0', 'SIGUSR2', ['the rank', 'the Pod']],
  ['an endless loop', 'SIGIO', ['the rank']],
  ['SIGSTOP', 'SIGSTOP', ['the rank']],
  ['a segmentation fault', 'SIGSEGV', ['the rank', 'the Pod']],
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

/** Without the package nothing is promised but that no wrong one is certain, so few runs show little. */
const MODES = [
  ['with the package in each rank', false],
  ['where one rank of each Pod reports', true],
] as const;

describe.skipIf(TORCH === undefined).each(REPEATS === 1 ? MODES.slice(0, 1) : MODES)(
  'the record of a restart below torchrun, %s,',
  (mode, isWithoutRanks) => {
    let run: FrameworkRun;
    beforeAll(async () => {
      const name = isWithoutRanks ? 'one-reports' : 'all-report';
      run = await FrameworkRun.start(TORCHRUN, cluster.client, { name, isWithoutRanks });
    });
    afterAll(() => run.remove());

    describe.each(ROUNDS)('(round %i)', (round) => {
      it.each(FAULTS)(
        'names a rank after %s',
        // A second try would count twice.
        { timeout: LIMIT_MS, retry: REPEATS === 1 ? 1 : 0 },
        async (name, signal, right) => {
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
          const what = `torchrun, ${mode}, ${name}: ${outcome}`;
          counts.set(what, (counts.get(what) ?? 0) + 1);
          process.stdout.write(`${what}; rank ${rank}: ${JSON.stringify(suspects)}\n`);
          expect(outcome).not.toBe('another, as certain');
          if (!isWithoutRanks) expect(right).toContain(outcome);
        },
      );
    });
  },
);
