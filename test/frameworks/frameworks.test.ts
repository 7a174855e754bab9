/**
 * Real frameworks as users run them. After a fault in one process the group restarts in place,
 * continues from the newest checkpoint, and its status names the process of the fault. `npm run
 * test:frameworks` installs the frameworks.
 */
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RestartRecord } from '../../src/jobset/jobset-status.ts';
import { type ClusterUnderTest, startCluster } from '../e2e/local-cluster.fixture.ts';
import {
  CHECKPOINT_STEPS,
  type Framework,
  FrameworkRun,
  type RunOptions,
  WORLD_SIZE,
} from './framework-run.fixture.ts';

const REPEATS = Number(process.env['LOCKSTEP_TEST_FRAMEWORK_REPEATS'] ?? 1);
const JAX = process.env['LOCKSTEP_TEST_JAX_PYTHON'];
const TORCH = process.env['LOCKSTEP_TEST_TORCH_PYTHON'];

const ON_TORCH = {
  program: 'pytorch/train.py',
  configMap: 'pytorch-train',
  portVariable: 'MASTER_PORT',
  python: TORCH ?? '',
};
const FRAMEWORKS: readonly Framework[] = [
  ...(TORCH === undefined
    ? []
    : [
        { ...ON_TORCH, name: 'pytorch', manifest: 'pytorch/jobset.yaml', ranksPerPod: 1 },
        {
          ...ON_TORCH,
          name: 'torchrun',
          manifest: 'pytorch/torchrun.yaml',
          ranksPerPod: 2,
          // Without them torchrun 1.13 fails on Python 3.11, where loops over flags skip the zero.
          launcherArguments: ['--redirects=1', '--tee=1'],
        },
      ]),
  ...(JAX === undefined
    ? []
    : [
        {
          name: 'jax',
          manifest: 'jax/jobset.yaml',
          program: 'jax/train.py',
          configMap: 'jax-train',
          portVariable: 'MASTER_PORT',
          python: JAX,
          ranksPerPod: 1,
        },
      ]),
];

interface Fault {
  readonly rank: number;
  readonly signal: NodeJS.Signals;
}
const FAULTS: readonly (readonly [string, Fault])[] = [
  ['SIGKILL of rank 2', { rank: 2, signal: 'SIGKILL' }],
  ['SIGKILL of rank 0', { rank: 0, signal: 'SIGKILL' }],
  // `fault/sitecustomize.py` makes an exception of it.
  ['an exception in rank 1', { rank: 1, signal: 'SIGUSR1' }],
  // The others wait for it, and the manifest says for how long.
  ['SIGSTOP of rank 1', { rank: 1, signal: 'SIGSTOP' }],
];
/** `fault/sitecustomize.py` has it too. */
const EXCEPTION = 'RuntimeError: a test made this process fail';
const ROUNDS = Array.from({ length: REPEATS }, (_, index) => index + 1);
/** A run that is completed has so many. Standbys are ready long before the last. */
const STEPS = 400;
const RANKS = Array.from({ length: WORLD_SIZE }, (_, rank) => rank);

const figures: string[] = [];
let cluster: ClusterUnderTest;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(async () => {
  await cluster.stop();
  process.stdout.write(`${figures.join('\n')}\n`);
});

describe.each(FRAMEWORKS)(
  '$name restarts in place, continues from its newest checkpoint, and names the process',
  (framework) => {
    let run: FrameworkRun;
    beforeAll(async () => {
      run = await FrameworkRun.start(framework, cluster.client);
    });
    afterAll(() => run.remove());

    describe.each(ROUNDS)('(round %i)', () => {
      it.each(FAULTS)('after %s', async (name, { rank, signal }) => {
        const epoch = (run.status.deprecatedEpoch ?? 0) + 1;
        const isBeyondCheckpoint = (): boolean => {
          const lives = run.lives(epoch);
          return (
            run.standbysAreReady &&
            lives.length === WORLD_SIZE &&
            lives.every(({ from, lastStep = 0 }) => lastStep > from + CHECKPOINT_STEPS + 2)
          );
        };
        await run.until(`a checkpoint in epoch ${epoch}`, isBeyondCheckpoint);
        const { inPlaceRestarts = 0, inPlaceRestartsCountTowardsMax = 0 } = run.status;
        const identities = run.identities();
        const processes = RANKS.map((each) => run.process(each));

        const faultAt = performance.now();
        process.kill(processes[rank] ?? Number.NaN, signal);
        const passed = (): string => seconds(performance.now() - faultAt);
        await run.until('the epoch ends', () => run.status.deprecatedEpoch === epoch);
        const ended = passed();
        await run.until('the next is released', () => run.status.syncedEpoch === epoch + 1);
        const released = passed();
        await run.until('all ranks do a step', () => run.stepping(epoch + 1));
        const record = run.record(epoch);
        const named = namedIn(record, run.podOf(rank));
        figures.push(
          `${framework.name}, ${name}: ended after ${ended} s, released ${released} s, ` +
            `stepping ${passed()} s; ${named}`,
        );

        expect(run.status).toMatchObject({
          deprecatedEpoch: epoch,
          inPlaceRestarts: inPlaceRestarts + 1,
          inPlaceRestartsCountTowardsMax: inPlaceRestartsCountTowardsMax + 1,
        });
        expect(run.status.restarts ?? 0).toBe(0);
        expect(run.identities()).toEqual(identities);
        expect(processes.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
        expectResumed(run, epoch);
        expect(named).not.toMatch(/^wrong, Certain/);
        // The hang command shows where the others wait for the stopped one.
        if (signal === 'SIGSTOP') expect(run.hasPrinted(' in main')).toBe(true);
        // The launchers of torchrun 1.13 wait for each other before they fail, and then end as one: which
        // of them is named is chance, and so are its last words. The figures show it.
        if (framework.ranksPerPod > 1 && signal !== 'SIGSTOP') return;
        expect(named).toMatch(/^right/);
        if (signal === 'SIGUSR1') expect(record?.lastWords?.text).toContain(EXCEPTION);
      });
    });
  },
);

/** Ends that are not dated by the end of their process, or that look like success. */
const ENDS: readonly (readonly [string, Fault])[] = [
  ['an exit with 0 of rank 2 too early', { rank: 2, signal: 'SIGUSR2' }],
  ['a traceback of rank 1, and a teardown of 5 s', { rank: 1, signal: 'SIGWINCH' }],
  ['a teardown of 5 s of rank 1 without a traceback', { rank: 1, signal: 'SIGURG' }],
];

describe.each(FRAMEWORKS.filter(({ ranksPerPod }) => ranksPerPod === 1))(
  '$name never takes an innocent for certain',
  (framework) => {
    describe.each(ROUNDS)('(round %i)', (round) => {
      it.each(ENDS)('after %s', async (name, { rank, signal }) => {
        const options = {
          name: `${framework.name}-${signal.toLowerCase()}-${round}`,
          isCold: true,
        };
        const run = await FrameworkRun.start(framework, cluster.client, options);
        try {
          const isStepping = (): boolean =>
            run.stepping(1) &&
            run.lives(1).every(({ lastStep = 0 }) => lastStep > CHECKPOINT_STEPS);
          await run.until('all ranks do steps', isStepping);
          process.kill(run.process(rank), signal);
          const judged = (): RestartRecord | undefined =>
            run.record(1)?.phases?.announceMs === undefined ? undefined : run.record(1);
          await run.until('the restart is judged', () => judged() !== undefined);
          const named = namedIn(judged(), run.podOf(rank));
          figures.push(`${framework.name}, ${name}: ${named}`);
          expect(named).not.toMatch(/^wrong, Certain/);
        } finally {
          await run.remove();
        }
      });
    });
  },
);

/** For one table with `--repeat`: the agent starts the ranks, or torchrun. */
const IN_TWO_PODS = { ranksPerPod: 4, worldSize: 8 };
const BY_AGENT: readonly Framework[] =
  TORCH === undefined || REPEATS === 1
    ? []
    : [{ ...ON_TORCH, ...IN_TWO_PODS, name: 'ranks', manifest: 'pytorch/ranks.yaml' }];
const BY_LAUNCHER = FRAMEWORKS.filter(({ launcherArguments }) => launcherArguments !== undefined);

/** What one failure cost a run that was completed afterwards. */
interface Cost {
  /** Until the next epoch was released, and until all ranks had done a step in it. */
  readonly releasedMs: number;
  readonly steppingMs: number;
  readonly promotions: number;
  readonly losses: readonly (number | undefined)[];
}

async function costOfFailure(framework: Framework, options: RunOptions): Promise<Cost> {
  const { worldSize = WORLD_SIZE } = framework;
  const run = await FrameworkRun.start(framework, cluster.client, { ...options, steps: STEPS });
  try {
    const mayFail = (): boolean =>
      run.standbysAreReady &&
      run.lives(1).length === worldSize &&
      run.lives(1).every(({ lastStep = 0 }) => lastStep > CHECKPOINT_STEPS + 2);
    await run.until('a checkpoint, and standbys', mayFail);
    const faultAt = performance.now();
    process.kill(run.process(2), 'SIGKILL');
    await run.until('the next epoch is released', () => run.status.syncedEpoch === 2);
    const releasedMs = performance.now() - faultAt;
    await run.until('all ranks do a step', () => run.stepping(2));
    const steppingMs = performance.now() - faultAt;
    await run.until('it completes', () => run.status.terminalState === 'Completed');
    expectResumed(run, 1, worldSize);
    expect(run.lives(2).map(({ lastStep }) => lastStep)).toEqual(Array(worldSize).fill(STEPS));
    const losses = run.lives(2).map(({ loss }) => loss);
    return { releasedMs, steppingMs, promotions: run.promotions, losses };
  } finally {
    await run.remove();
  }
}

describe.each([...FRAMEWORKS.filter(({ ranksPerPod }) => ranksPerPod === 1), ...BY_AGENT])(
  '$name starts again from a warm standby',
  (framework) => {
    it.each(ROUNDS)('as well as from nothing (round %i)', async (round) => {
      const run = (name: string, isCold: boolean): Promise<Cost> =>
        costOfFailure(framework, { name: `${framework.name}-${name}-${round}`, isCold });
      const cold = await run('cold', true);
      const warm = await run('warm', false);
      figures.push(`${framework.name}, cold: ${told(cold)}; warm: ${told(warm)}`);

      const { worldSize = WORLD_SIZE, ranksPerPod } = framework;
      expect([cold.promotions, warm.promotions]).toEqual([0, worldSize / ranksPerPod]);
      expect(warm.losses).toEqual(cold.losses);
    });
  },
);

describe.skipIf(REPEATS === 1).each(BY_LAUNCHER)('$name has no standby', (framework) => {
  it.each(ROUNDS)('and starts from nothing (round %i)', async (round) => {
    const name = `${framework.name}-cold-${round}`;
    const cost = await costOfFailure({ ...framework, ...IN_TWO_PODS }, { name });
    figures.push(`${framework.name}, ${IN_TWO_PODS.worldSize} ranks: ${told(cost)}`);
    expect(cost.promotions).toBe(0);
  });
});

function told({ releasedMs, steppingMs }: Cost): string {
  return `released ${seconds(releasedMs)} s, stepping ${seconds(steppingMs)} s`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}

/** All continue from one checkpoint, the newest that can have been complete. */
function expectResumed(run: FrameworkRun, epoch: number, worldSize = WORLD_SIZE): void {
  const lastStep = Math.max(...run.lives(epoch).map((life) => life.lastStep ?? 0));
  const lives = run.lives(epoch + 1);
  const [{ from } = { from: Number.NaN }] = lives;
  expect(lives.map((life) => life.from)).toEqual(Array(worldSize).fill(from));
  const firstSteps = lives.map(({ firstStep }) => firstStep?.step);
  expect(firstSteps).toEqual(Array(worldSize).fill(from + 1));
  expect(from % CHECKPOINT_STEPS).toBe(0);
  // The checkpoint of a step is complete just before the ranks print that they did it.
  expect(from).toBeGreaterThan(lastStep - CHECKPOINT_STEPS);
  expect(from).toBeLessThanOrEqual(lastStep + 1);
}

/** Whether the likeliest suspect is the Pod of the fault. */
function namedIn(record: RestartRecord | undefined, podIndex: number): string {
  const [suspect] = record?.suspects ?? [];
  if (suspect === undefined) return 'unknown';
  const isRight = suspect.completionIndex === podIndex;
  return `${isRight ? 'right' : 'wrong'}, ${suspect.confidence} (${suspect.why})`;
}
