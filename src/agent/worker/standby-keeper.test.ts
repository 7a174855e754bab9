import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import {
  type FakeProcess,
  MemoryProcessRunner,
} from '@lockstep/kube/runtime/memory/memory-process-runner.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { describe, expect, it } from 'vitest';
import type { StandbyDeaths } from '../../jobset/progress/progress.ts';
import type { FilesOfStart, LineListener } from '../progress/progress-files.ts';
import { createSupervisor, type Supervisor } from '../supervisor.ts';
import type { OwnEnd } from '../worker-exit.ts';
import { READY_LIMIT_MS, STEADY_MS } from './standby-keeper.ts';
import { FIRST_BACKOFF_MS, LONG_LIFE_MS, MAX_BACKOFF_MS } from './standby-plan.ts';
import { UNSEEN_WORKER } from './unseen-worker.fixture.ts';

/** The agent looks at progress files four times a second. */
const LOOK_MS = 250;

/** The files of one start, in memory. */
class MemoryFiles implements FilesOfStart {
  readonly ranks = {
    found: async () => [],
    failure: async () => undefined,
    isTerminated: async () => undefined,
  };
  readonly progress: string;
  readonly torchError: string;
  readonly start: string;
  readonly lines: string[] = [];
  /** The text of the start file. */
  begun: string | undefined;
  #read = 0;
  readonly #heard: LineListener | undefined;
  readonly #isBroken: () => boolean;

  constructor(directory: string, heard: LineListener | undefined, isBroken: () => boolean) {
    this.progress = `${directory}/progress`;
    this.torchError = `${directory}/error.json`;
    this.start = `${directory}/start`;
    this.#heard = heard;
    this.#isBroken = isBroken;
  }

  readonly reports = {
    read: async (): Promise<string | undefined> => {
      if (this.lines.length === this.#read) return undefined;
      this.#read = this.lines.length;
      for (const line of this.lines) this.#heard?.(line);
      return this.lines.at(-1);
    },
  };

  async begin(text: string): Promise<void> {
    if (this.#isBroken()) throw new Error('ENOSPC');
    this.begun = text;
  }

  async noteStandby(): Promise<void> {}

  done(): void {}
}

class Scene {
  readonly clock = new VirtualClock();
  readonly logger = new MemoryLogger();
  readonly files = new Map<string, MemoryFiles>();
  /** Called for each look at the termination message of the container. */
  looksAtMessage: () => void = () => undefined;
  /** Called when a process begins. */
  begins: () => void = () => undefined;
  readonly processes = new MemoryProcessRunner({ train: () => this.begins() });
  readonly supervisor: Supervisor;
  readonly ends: OwnEnd[] = [];
  /** States of the processes that a look finds. */
  states = 'S';
  oomKills = 0;
  isDiskFull = false;
  /** The termination message of the container, to which all processes write. */
  message: string | undefined;
  /** Priorities as they were set: process and `low` or `own`. */
  readonly priorities: string[] = [];
  mayRestore = true;

  constructor(hasStandby = true, hadStandby = false) {
    this.supervisor = createSupervisor({
      ...UNSEEN_WORKER,
      command: { argv: ['train'], env: {}, cwd: '/' },
      rules: [],
      stopGraceMs: 5000,
      hasStandby,
      files: {
        open: async (heard) => {
          const files = new MemoryFiles(`/${this.files.size}`, heard, () => this.isDiskFull);
          this.files.set(files.progress, files);
          return files;
        },
        hadStandby: Promise.resolve(hadStandby),
        tidy: () => undefined,
      },
      messages: {
        state: async () => {
          this.looksAtMessage();
          return this.message;
        },
        changed: async (_path, before) => (this.message === before ? undefined : this.message),
      },
      looks: {
        isAlive: () => true,
        tree: (pid) => ({
          atMs: this.clock.monotonic(),
          isAlive: this.processes.running.some((running) => running.pid === pid),
          processes: new Map([
            [`${pid}`, { states: new Set(this.states), runnableMs: new Map(), cpuMs: 0 }],
          ]),
        }),
        threads: () => [],
        oomKills: () => this.oomKills,
      },
      priorities: {
        lower: (pid) => this.priorities.push(`low ${pid}`) > 0,
        restore: (pid) => this.priorities.push(`own ${pid}`) > 0 && this.mayRestore,
      },
      processes: this.processes,
      clock: this.clock,
      random: new SeededRandom(1),
      logger: this.logger,
    });
  }

  async lift(epoch: number): Promise<FakeProcess> {
    this.supervisor.lift(epoch, (exit) => this.ends.push(exit));
    await this.clock.settle();
    const worker = this.processes.running.find((each) => this.begunOf(each) === `epoch ${epoch}\n`);
    if (worker === undefined) throw new Error(`no worker of epoch ${epoch}`);
    return worker;
  }

  /** The others end the epoch, and it goes at once. */
  async stop(): Promise<void> {
    this.supervisor.stopWorker({ isSilent: false });
    await this.clock.settle();
  }

  async append(process: FakeProcess, ...lines: readonly string[]): Promise<void> {
    this.#filesOf(process).lines.push(...lines);
    await this.clock.advance(LOOK_MS);
  }

  begunOf(process: FakeProcess): string | undefined {
    return this.#filesOf(process).begun;
  }

  /** Processes that were started as standbys and live. */
  get standbys(): readonly FakeProcess[] {
    return this.processes.running.filter(({ command: { env } }) => env['LOCKSTEP_STANDBY'] === '1');
  }

  /** The worker of the first epoch has waited and stepped, and its standby is there. */
  async withStandby(): Promise<{ readonly worker: FakeProcess; readonly standby: FakeProcess }> {
    const worker = await this.lift(1);
    await this.append(worker, 'phase=standby', '1');
    const [standby] = this.standbys;
    if (standby === undefined) throw new Error('there is no standby');
    return { worker, standby };
  }

  get state(): string | undefined {
    return this.supervisor.progress.progress?.standby;
  }

  get deaths(): StandbyDeaths | undefined {
    return this.supervisor.progress.progress?.standbyDeaths;
  }

  get warnings(): readonly unknown[] {
    return this.logger.records.filter(({ level }) => level === 'warn').map(({ fields }) => fields);
  }

  #filesOf({ command: { env } }: FakeProcess): MemoryFiles {
    const files = this.files.get(env['LOCKSTEP_PROGRESS_FILE'] ?? '');
    if (files === undefined) throw new Error('the process has no files');
    return files;
  }
}

describe('a standby', () => {
  it('starts after the worker has waited, and then stepped', async () => {
    const scene = new Scene();
    const worker = await scene.lift(1);
    await scene.append(worker, 'phase=standby');
    await scene.clock.advance(60_000);
    expect(scene.processes.started).toHaveLength(1);
    expect(scene.supervisor.progress.progress).toBeUndefined();
    await scene.append(worker, 'phase=load');
    expect(scene.standbys).toHaveLength(1);
  });

  it('has an environment of its own, and no epoch', async () => {
    const { worker, standby } = await new Scene().withStandby();
    const [cold, warm] = [worker.command.env, standby.command.env];
    expect(cold).toMatchObject({ LOCKSTEP_EPOCH: '1', LOCKSTEP_START_FILE: '/0/start' });
    expect(cold).not.toHaveProperty('LOCKSTEP_STANDBY');
    expect(warm).toMatchObject({ LOCKSTEP_STANDBY: '1', LOCKSTEP_START_FILE: '/1/start' });
    expect(warm).not.toHaveProperty('LOCKSTEP_EPOCH');
    const own = ['LOCKSTEP_WORKER', 'LOCKSTEP_PROGRESS_FILE', 'TORCHELASTIC_ERROR_FILE'];
    for (const name of own) expect(warm[name]).not.toBe(cold[name]);
  });

  it('never runs a command that does not wait, through many restarts', async () => {
    const scene = new Scene();
    for (let epoch = 1; epoch <= 10; epoch++) {
      const worker = await scene.lift(epoch);
      await scene.append(worker, 'phase=load', '1', '2 phase=save');
      expect(scene.processes.running).toEqual([worker]);
      await scene.stop();
    }
    expect(scene.processes.started).toHaveLength(10);
    expect(scene.processes.started.map(({ command }) => command.env)).not.toContainEqual(
      expect.objectContaining({ LOCKSTEP_STANDBY: '1' }),
    );
  });

  it('does not start for a command that has stepped before it says phase=standby', async () => {
    const scene = new Scene();
    const worker = await scene.lift(1);
    await scene.append(worker, '330', 'phase=standby', '331');
    await scene.append(worker, 'phase=standby');
    expect(scene.processes.running).toEqual([worker]);
    const why = 'it reported a step, and no phase=standby before';
    const told = scene.logger.records.filter(({ fields }) => fields?.['why'] === why);
    expect(told).toMatchObject([{ level: 'info', message: 'the worker gets no standby' }]);
  });

  it('is not there without the annotation, and neither is a start file', async () => {
    const scene = new Scene(false);
    scene.supervisor.lift(1, () => undefined);
    await scene.clock.settle();
    const [worker] = scene.processes.started;
    if (worker === undefined) throw new Error('no worker');
    await scene.append(worker, 'phase=standby', '1');
    expect(scene.processes.started).toHaveLength(1);
    expect(worker.command.env).not.toHaveProperty('LOCKSTEP_START_FILE');
    expect(scene.begunOf(worker)).toBeUndefined();
  });

  it('becomes the worker once the old one and its descendants are gone', async () => {
    const scene = new Scene();
    const { worker, standby } = await scene.withStandby();
    const child = worker.fork('own group');
    child.onSignal(() => undefined);
    await scene.append(standby, 'phase=standby', 'phase=standby');
    expect(scene.state).toBe('Ready');
    const waits = scene.logger.records.filter(({ message }) => message.includes('standby waits'));
    expect(waits, 'it is said once').toHaveLength(1);
    await scene.stop();
    expect([worker.isRunning, child.isRunning]).toEqual([false, false]);
    expect(scene.ends).toHaveLength(1);
    expect(scene.begunOf(standby)).toBeUndefined();
    expect(await scene.lift(2)).toBe(standby);
    expect(scene.processes.running).toEqual([standby]);
    expect(scene.supervisor.progress.progress).toBeUndefined();
  });

  it('that became the worker ends as a worker does', async () => {
    const scene = new Scene();
    const { standby } = await scene.withStandby();
    await scene.append(standby, 'phase=standby');
    await scene.stop();
    await scene.lift(2);
    standby.onSignal(() => undefined);
    expect(scene.supervisor.forward('SIGUSR1')).toBe(true);
    expect(standby.signals).toEqual(['SIGUSR1']);
    await scene.append(standby, '7 checkpoint=5');
    const child = standby.fork('own group');
    standby.exit(3);
    await scene.clock.settle();
    expect(scene.ends.at(-1)).toMatchObject({ how: 'Exited', exit: { exitCode: 3 }, step: 7 });
    expect(child.isRunning).toBe(false);
  });

  it('is followed by another after the first progress of the new worker', async () => {
    const scene = new Scene();
    const { standby } = await scene.withStandby();
    await scene.append(standby, 'phase=standby');
    await scene.stop();
    await scene.lift(2);
    await scene.clock.advance(60_000);
    expect(scene.processes.running).toEqual([standby]);
    await scene.append(standby, '2');
    expect(scene.processes.running).toHaveLength(2);
  });

  it('is not there at a second restart before the first progress', async () => {
    const scene = new Scene();
    const { standby } = await scene.withStandby();
    await scene.append(standby, 'phase=standby');
    await scene.stop();
    await scene.lift(2);
    await scene.stop();
    const worker = await scene.lift(3);
    expect(worker.command.env).toMatchObject({ LOCKSTEP_EPOCH: '3' });
    expect(scene.processes.running).toEqual([worker]);
  });

  it('that still prepares when its epoch ends is killed, and the worker starts cold', async () => {
    const scene = new Scene();
    const { standby } = await scene.withStandby();
    const child = standby.fork('own group');
    await scene.stop();
    const worker = await scene.lift(2);
    expect(worker.command.env).toMatchObject({ LOCKSTEP_EPOCH: '2' });
    expect([standby.isRunning, child.isRunning]).toEqual([false, false]);
    await scene.append(worker, 'phase=standby', '1');
    expect(scene.standbys).toHaveLength(1);
  });

  it('that gets ready between two epochs is promoted', async () => {
    const scene = new Scene();
    const { standby } = await scene.withStandby();
    await scene.stop();
    await scene.append(standby, 'phase=standby');
    expect(await scene.lift(2)).toBe(standby);
  });

  it.each(['T', 't'])('in state %s is killed, and the worker starts cold', async (states) => {
    const scene = new Scene();
    const { standby } = await scene.withStandby();
    await scene.append(standby, 'phase=standby');
    scene.states = `S${states}`;
    await scene.stop();
    expect(await scene.lift(2)).not.toBe(standby);
    expect(standby.isRunning).toBe(false);
  });

  it('that dies when its promotion is decided is not the worker, so the group is not ended', async () => {
    const scene = new Scene();
    const { standby } = await scene.withStandby();
    await scene.append(standby, 'phase=standby');
    await scene.stop();
    scene.looksAtMessage = () => standby.exit(1);
    const worker = await scene.lift(2);
    expect(worker).not.toBe(standby);
    expect(scene.begunOf(standby)).toBeUndefined();
    expect(scene.ends.map(({ epoch }) => epoch)).toEqual([1]);
    expect(worker.isRunning).toBe(true);
  });

  it('whose start file cannot be written is killed, and so is not the group', async () => {
    const scene = new Scene();
    const { standby } = await scene.withStandby();
    await scene.append(standby, 'phase=standby');
    await scene.stop();
    scene.isDiskFull = true;
    const below = standby.fork('own group');
    const kill = scene.processes.killByEnvironment.bind(scene.processes);
    scene.processes.killByEnvironment = async (...which) => {
      await new Promise<void>((resolve) => void scene.clock.setTimer(100, resolve));
      return kill(...which);
    };
    const wereRunning: boolean[] = [];
    scene.begins = () => wereRunning.push(standby.isRunning, below.isRunning);
    scene.supervisor.lift(2, (exit) => scene.ends.push(exit));
    await scene.clock.advance(200);
    // They may hold ports and devices of the worker.
    expect(wereRunning).toEqual([false, false]);
    const [worker, ...others] = scene.processes.running;
    expect(others).toEqual([]);
    // Without the file it does not wait.
    expect(worker?.command.env).toMatchObject({ LOCKSTEP_EPOCH: '2' });
    expect(worker?.command.env).not.toHaveProperty('LOCKSTEP_START_FILE');
    expect(scene.ends).toHaveLength(1);
  });
});

describe('a Pod gets no standby any more', () => {
  it.each([
    ['2', 'Reported'],
    ['phase=load', 'Reported'],
  ])('after one that reports %s', async (line, state) => {
    const scene = new Scene();
    const { worker, standby } = await scene.withStandby();
    const child = standby.fork('own group');
    await scene.append(standby, line, 'phase=standby');
    expect([standby.isRunning, child.isRunning]).toEqual([false, false]);
    expect(scene.state).toBe(state);
    expect(scene.warnings).toEqual([{ why: expect.stringContaining('reported') }]);
    await none(scene, worker);
  });

  it('after one that exits with 0', async () => {
    const scene = new Scene();
    const { worker, standby } = await scene.withStandby();
    standby.exit(0);
    await scene.clock.settle();
    expect(scene.state).toBe('Exited');
    await none(scene, worker);
  });

  it('after memory ran out beside one', async () => {
    const scene = new Scene();
    const { worker, standby } = await scene.withStandby();
    await scene.append(standby, 'phase=standby');
    scene.oomKills++;
    await scene.clock.advance(2500);
    expect(standby.isRunning).toBe(false);
    expect(scene.state).toBe('OutOfMemory');
    await none(scene, worker);
  });

  it('when memory ran out for the worker just before', async () => {
    const scene = new Scene();
    const { worker, standby } = await scene.withStandby();
    await scene.append(standby, 'phase=standby');
    scene.oomKills++;
    worker.die('SIGKILL');
    await scene.clock.settle();
    const next = await scene.lift(2);
    expect(next).not.toBe(standby);
    expect(scene.processes.running).toEqual([next]);
    await scene.append(next, 'phase=standby', '1');
    expect(scene.state).toBe('OutOfMemory');
  });

  it('after the agent before was killed beside one, as when memory runs out', async () => {
    const scene = new Scene(true, true);
    const worker = await scene.lift(1);
    await scene.append(worker, 'phase=standby', '1');
    expect(scene.state).toBe('OutOfMemory');
    await none(scene, worker);
  });

  /** The worker keeps running, and is alone through a restart. */
  async function none(scene: Scene, worker: FakeProcess): Promise<void> {
    expect(scene.ends).toEqual([]);
    expect(scene.processes.running).toEqual([worker]);
    await scene.clock.advance(MAX_BACKOFF_MS);
    await scene.stop();
    const next = await scene.lift(2);
    await scene.append(next, 'phase=standby', '1');
    await scene.clock.advance(MAX_BACKOFF_MS);
    expect(scene.processes.running).toEqual([next]);
  }
});

describe('a standby that dies', () => {
  it('is followed by another, later each time', async () => {
    const scene = new Scene();
    const { worker } = await scene.withStandby();
    for (let delayMs = FIRST_BACKOFF_MS; delayMs <= MAX_BACKOFF_MS; delayMs *= 2) {
      scene.standbys[0]?.exit(1);
      await scene.clock.advance(delayMs - 1);
      expect(scene.standbys).toEqual([]);
      await scene.clock.advance(1);
      expect(scene.standbys).toHaveLength(1);
    }
    scene.standbys[0]?.die('SIGSEGV');
    await scene.clock.advance(MAX_BACKOFF_MS);
    expect(scene.standbys).toHaveLength(1);
    expect(scene.ends).toEqual([]);
    expect(worker.isRunning).toBe(true);
  });

  it('is counted since the release, with how the last one ended', async () => {
    const scene = new Scene();
    const { worker } = await scene.withStandby();
    expect(scene.deaths).toBeUndefined();
    scene.standbys[0]?.exit(1);
    await scene.clock.advance(MAX_BACKOFF_MS);
    expect(scene.deaths).toEqual({ count: 1, last: { exitCode: 1 } });
    scene.standbys[0]?.die('SIGSEGV');
    await scene.clock.advance(MAX_BACKOFF_MS);
    const [third] = scene.standbys;
    if (third === undefined) throw new Error('there is no standby');
    await scene.append(third, 'phase=standby');
    expect(scene.state).toBe('Ready');
    worker.exit(3);
    await scene.clock.settle();
    expect(scene.deaths).toEqual({ count: 2, last: { signal: 'SIGSEGV' } });
    expect(await scene.lift(2)).toBe(third);
    await scene.append(third, '2');
    expect(scene.deaths).toBeUndefined();
  });

  it('is reported until one has waited for a minute, and counts on if that dies too', async () => {
    const scene = new Scene();
    await scene.withStandby();
    scene.standbys[0]?.exit(1);
    await scene.clock.advance(FIRST_BACKOFF_MS);
    const [next] = scene.standbys;
    if (next === undefined) throw new Error('there is no standby');
    await scene.append(next, 'phase=standby');
    await scene.clock.advance(STEADY_MS - 2 * LOOK_MS);
    expect(scene.state).toBe('Ready');
    expect(scene.deaths).toEqual({ count: 1, last: { exitCode: 1 } });
    await scene.clock.advance(2 * 2500);
    expect(scene.state).toBe('Ready');
    expect(scene.deaths).toBeUndefined();
    next.exit(2);
    await scene.clock.settle();
    expect(scene.deaths).toEqual({ count: 2, last: { exitCode: 2 } });
  });

  it('is not reported beside the reason why there are none any more', async () => {
    const scene = new Scene();
    await scene.withStandby();
    scene.standbys[0]?.exit(1);
    await scene.clock.advance(FIRST_BACKOFF_MS);
    expect(scene.deaths).toEqual({ count: 1, last: { exitCode: 1 } });
    scene.oomKills++;
    await scene.clock.advance(2500);
    expect(scene.state).toBe('OutOfMemory');
    expect(scene.deaths).toBeUndefined();
  });

  it('after a long life is followed at once', async () => {
    const scene = new Scene();
    await scene.withStandby();
    for (let death = 0; death < 5; death++) {
      scene.standbys[0]?.exit(1);
      await scene.clock.advance(MAX_BACKOFF_MS);
    }
    const [old] = scene.standbys;
    if (old === undefined) throw new Error('there is no standby');
    await scene.append(old, 'phase=standby');
    await scene.clock.advance(LONG_LIFE_MS);
    old.exit(1);
    await scene.clock.advance(FIRST_BACKOFF_MS);
    expect(scene.standbys).toHaveLength(1);
  });

  it('between two epochs is followed only after progress', async () => {
    const scene = new Scene();
    const { standby } = await scene.withStandby();
    await scene.append(standby, 'phase=standby');
    await scene.stop();
    standby.exit(1);
    await scene.clock.advance(MAX_BACKOFF_MS);
    expect(scene.processes.running).toEqual([]);
    await scene.lift(2);
    expect(scene.ends).toHaveLength(1);
  });

  it('leaves no last words for its worker, but keeps the words of a worker that ends', async () => {
    const scene = new Scene();
    const { worker } = await scene.withStandby();
    scene.message = 'of the standby';
    scene.standbys[0]?.exit(1);
    await scene.clock.advance(FIRST_BACKOFF_MS);
    worker.exit(3);
    await scene.clock.settle();
    expect(scene.ends.at(-1)).not.toHaveProperty('lastWords');

    const next = await scene.lift(2);
    await scene.append(next, 'phase=standby', '1');
    scene.message = 'of the worker';
    next.exit(3);
    await scene.clock.settle();
    expect(scene.ends.at(-1)).toMatchObject({ lastWords: 'of the worker' });
  });

  it('by the hand of its agent is not said to have died by itself', async () => {
    const scene = new Scene();
    const { standby } = await scene.withStandby();
    await scene.append(standby, 'phase=standby');
    scene.states = 'T';
    await scene.stop();
    await scene.lift(2);
    expect(standby.isRunning).toBe(false);
    expect(scene.warnings).toEqual([]);
    const [worker] = scene.processes.running;
    if (worker === undefined) throw new Error('there is no worker');
    await scene.append(worker, 'phase=standby', '1');
    expect(scene.deaths).toBeUndefined();
  });

  it('counts as dead when it is not ready in time', async () => {
    const scene = new Scene();
    const { standby } = await scene.withStandby();
    await scene.clock.advance(READY_LIMIT_MS - LOOK_MS - 2500);
    expect(standby.isRunning).toBe(true);
    await scene.clock.advance(2 * 2500);
    expect(standby.isRunning).toBe(false);
    expect(scene.state).toBeUndefined();
    await scene.clock.advance(FIRST_BACKOFF_MS);
    expect(scene.standbys).toHaveLength(1);
    expect(scene.deaths).toEqual({ count: 1, last: 'NotReady' });
  });
});

describe('a standby is dropped', () => {
  it('at once, with all below it, until the next epoch', async () => {
    const scene = new Scene();
    const { worker, standby } = await scene.withStandby();
    await scene.append(standby, 'phase=standby');
    const child = standby.fork('own group');
    await scene.supervisor.dropStandby?.();
    expect([standby.isRunning, child.isRunning]).toEqual([false, false]);
    expect(scene.state).toBeUndefined();
    await scene.append(worker, '2');
    await scene.clock.advance(MAX_BACKOFF_MS);
    expect(scene.processes.running).toEqual([worker]);
    await scene.stop();
    const next = await scene.lift(2);
    await scene.append(next, 'phase=standby', '1');
    expect(scene.standbys).toHaveLength(1);
  });

  it('but not while it becomes the worker, which ends as workers do', async () => {
    const scene = new Scene();
    const { standby } = await scene.withStandby();
    standby.onSignal(() => undefined);
    await scene.append(standby, 'phase=standby');
    await scene.stop();
    scene.supervisor.lift(2, (exit) => scene.ends.push(exit));
    const dropped = scene.supervisor.dropStandby?.();
    scene.supervisor.forward('SIGTERM');
    await scene.clock.settle();
    await dropped;
    expect(standby.signals).toEqual(['SIGTERM']);
    expect(standby.isRunning).toBe(true);
  });

  it('before its process exists', async () => {
    const scene = new Scene();
    const worker = await scene.lift(1);
    const start = scene.processes.start.bind(scene.processes);
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    scene.processes.start = async (command) => {
      await held;
      return start(command);
    };
    await scene.append(worker, 'phase=standby', '1');
    const dropped = scene.supervisor.dropStandby?.();
    go();
    await dropped;
    expect(scene.processes.started).toHaveLength(2);
    expect(scene.processes.running).toEqual([worker]);
  });
});

describe('the priority of a standby', () => {
  it('is low while it waits', async () => {
    const scene = new Scene();
    const { standby } = await scene.withStandby();
    await scene.append(standby, 'phase=standby');
    expect(scene.priorities).toEqual([`low ${standby.pid}`]);
    await scene.stop();
    await scene.lift(2);
    expect(scene.priorities).toEqual([`low ${standby.pid}`, `own ${standby.pid}`]);
  });

  it('that cannot be restored is no priority of a worker', async () => {
    const scene = new Scene();
    const { standby } = await scene.withStandby();
    await scene.append(standby, 'phase=standby');
    scene.mayRestore = false;
    await scene.stop();
    expect(await scene.lift(2)).not.toBe(standby);
    expect(standby.isRunning).toBe(false);
  });
});
