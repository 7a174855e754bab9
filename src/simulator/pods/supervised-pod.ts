/** The agent of one Pod as a supervisor, with the processes of its worker and of its standby. */
import {
  type FakeProcess,
  MemoryProcessRunner,
} from '@lockstep/kube/runtime/memory/memory-process-runner.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import type { Agent } from '../../agent/agent.ts';
import type { LeaveReason } from '../../agent/barrier-state.ts';
import { createSupervisor, type Supervisor } from '../../agent/supervisor.ts';
import { ENV_STANDBY } from '../../jobset/names.ts';
import type { MemberRanks } from '../../jobset/ranks/member-ranks.ts';
import type { Exit } from '../../jobset/worker-end/worker-end.ts';
import type { StandbyDeath } from '../features/standby-acts.ts';
import { type AgentProcess, PodAgents, type PodAgentsOptions } from './pod-agents.ts';
import { PodFiles } from './pod-files.ts';
import { checkMachine, type SimulatedPreflight } from './simulated-preflight.ts';
import { SimulatedProcess, type Train } from './simulated-process.ts';
import { WorkerRuns } from './worker-runs.ts';

export interface SupervisedPodOptions extends PodAgentsOptions {
  readonly told: WorkerListener;
  /** What each process of the worker does; absent: nothing. */
  readonly train?: Train;
  /** How long the worker takes to end once it is to stop; by default no time. */
  readonly stopMs?: () => number;
  /** Absent: no machine is checked. */
  readonly preflight?: SimulatedPreflight | undefined;
  /** How long standbys prepare themselves; absent: workers have none. */
  readonly standbys?: Random | undefined;
}

export interface WorkerListener {
  started(epoch: number, ranks?: MemberRanks, wasStandby?: boolean): void;
  /** The agent stops the worker, because the epoch is over. */
  stopped?(epoch: number): void;
  ended?(epoch: number, exit: Exit): void;
  /** The agent has left its container; undefined: it could not continue. */
  left?(reason: LeaveReason | undefined): void;
  /** A process of a standby starts; `beside`: others of its number that live. */
  standbyStarted?(beside: number): void;
  /** A process that was a standby is about to die, at the start of the epoch. */
  dies?(local: number): void;
}

const COMMAND = { argv: ['train'], env: {}, cwd: '/' } as const;
const STOP_GRACE_MS = 5000;
const MIN_PREPARE_MS = 1000;
const MAX_PREPARE_MS = 20_000;
/** How long a look at the files of a worker takes where it has a standby. */
const FILES_MS = 2;
const FAILED: Exit = { exitCode: 1 };
const NOTHING = Promise.resolve(undefined);
const NO_OUTPUT = Promise.resolve({
  streams: {},
  handedOver: () => undefined,
  end: () => undefined,
});
const SLEEPING = { states: new Set('S'), cpuMs: 0, runnableMs: new Map<number, number>() };

/** One run of the agent's container. */
interface Container {
  readonly runner: MemoryProcessRunner;
  isOver: boolean;
}

export class SupervisedPod {
  readonly #options: SupervisedPodOptions;
  readonly #agents: PodAgents;
  readonly #files = new PodFiles();
  readonly #alive = new Set<SimulatedProcess>();
  readonly #runs = new WorkerRuns();
  #container: Container;
  #agent: Agent;
  #process: AgentProcess;
  #body: Supervisor;
  #isLifting = false;
  /** The epoch of the newest worker. */
  #lifted = 0;
  #check: FakeProcess | undefined;
  /** When a standby is to die. */
  #doom: StandbyDeath | undefined;
  /** How much longer the next standby prepares itself. */
  #slowMs = 0;
  /** Something happened after which an agent keeps no standby. */
  #mayRefuse = false;

  constructor(options: SupervisedPodOptions) {
    this.#options = options;
    this.#agents = new PodAgents(options);
    [this.#container, this.#process, this.#agent, this.#body] = this.#boot();
  }

  /** The epoch in which the worker runs; undefined if none does. */
  get epoch(): number | undefined {
    return this.#runs.current?.epoch;
  }

  /** The epochs in which processes of the Pod train: of a sound agent, one at most. */
  get epochs(): readonly number[] {
    return this.#runs.epochs;
  }

  /** While the machine is checked: the epoch of the worker that failed. */
  get checksAfter(): number | undefined {
    return this.#check?.isRunning === true ? this.#lifted : undefined;
  }

  /** The numbers of the ranks that run; undefined: the worker is none. */
  get ranks(): MemberRanks | undefined {
    return this.#runs.current?.processes[0]?.ranks;
  }

  /** A standby is ready beside the worker, or the agent says why there is none. */
  get isStandbySettled(): boolean {
    const { standby } = this.#body.progress;
    const processes = this.ranks?.processes ?? 1;
    const all = this.#standbys;
    if (standby !== 'Ready') return this.#mayRefuse && standby !== undefined && all.length === 0;
    return all.length === processes && all.every(({ isWaiting }) => isWaiting);
  }

  get #standbys(): readonly SimulatedProcess[] {
    return [...this.#alive].filter(({ isStandby, epoch }) => isStandby && epoch === undefined);
  }

  /** `local`: this process of the worker ends, and takes its peers with it; absent: all end. */
  exit(exit: Exit, local?: number): void {
    for (const process of this.#workers(local)) process.endWith(exit);
  }

  /**
   * This process of the worker does nothing more, and runs on. Its peers make no first step without it: an
   * agent cannot tell a rank that hangs before it ever reported from one that never reports.
   */
  hang(local: number): void {
    const hung = this.#workers(local);
    const isBeforeStep = hung.some(({ hasReported }) => !hasReported);
    for (const process of isBeforeStep ? this.#workers() : hung) process.hang();
  }

  /** The worker writes a line about its progress. */
  report(line: string): void {
    for (const process of this.#workers()) process.report(line);
  }

  standbyDies(when: StandbyDeath): void {
    if (when === 'Now') this.#standbys[0]?.endWith(FAILED);
    else this.#doom = when;
  }

  standbyExits(): void {
    const [standby] = this.#standbys;
    if (standby !== undefined) this.#mayRefuse = true;
    standby?.endWith({ exitCode: 0 });
  }

  /** The next standby prepares itself for this much longer. */
  slowStandby(forMs: number): void {
    this.#slowMs = forMs;
  }

  /** The agent gets SIGTERM. */
  stop(): void {
    this.#agent.stop('SIGTERM');
  }

  /** The agent gets SIGTERM, and passes it on. */
  terminate(): void {
    this.#body.forward('SIGTERM');
    this.stop();
  }

  /** All processes are gone at once. */
  die(): void {
    const container = this.#container;
    this.#process.channel.close();
    container.isOver = true;
    if (this.#standbys.length > 0) this.#mayRefuse = true;
    for (const process of this.#alive) process.endWith({ signal: 'SIGKILL' });
    // Some have not begun.
    for (const process of container.runner.running) process.die('SIGKILL');
    this.#tellEnds();
  }

  /** The container dies, and is started again. */
  crash(): void {
    this.die();
    [this.#container, this.#process, this.#agent, this.#body] = this.#boot();
  }

  #workers(local?: number): readonly SimulatedProcess[] {
    const alive = [...(this.#runs.current?.alive ?? [])];
    return local === undefined ? alive : alive.filter((process) => process.local === local);
  }

  #boot(): [Container, AgentProcess, Agent, Supervisor] {
    const container: Container = {
      runner: new MemoryProcessRunner({
        train: (self) => this.#starts(self, container),
        sh: (self) => this.#checks(self),
      }),
      isOver: false,
    };
    const { process, agent, body } = this.#agents.start(
      ({ clock }) => this.#bodyOf(clock, container),
      (reason) => this.#options.told.left?.(reason),
    );
    return [container, process, agent, body];
  }

  #bodyOf(clock: Clock, container: Container): Supervisor {
    const { told, standbys, preflight } = this.#options;
    const { runner } = container;
    const isRunning = (pid: number): boolean => runner.running.some((each) => each.pid === pid);
    const supervisor = createSupervisor({
      command: COMMAND,
      rules: [],
      stopGraceMs: STOP_GRACE_MS,
      hasStandby: standbys !== undefined,
      hasLastWords: false,
      hangCommand: undefined,
      preflight: preflight?.line,
      progressPrefix: undefined,
      terminationMessagePath: '/dev/termination-log',
      files: this.#files.of(() => container.isOver),
      messages: {
        state: () => (standbys === undefined ? NOTHING : this.#looksAtFiles(clock)),
        changed: () => NOTHING,
      },
      output: { begin: () => NO_OUTPUT },
      looks: {
        isAlive: isRunning,
        tree: (pid) => {
          const isAlive = isRunning(pid);
          const processes = new Map(isAlive ? [[`${pid}`, SLEEPING]] : []);
          return { atMs: clock.monotonic(), isAlive, processes };
        },
        threads: () => [],
        oomKills: () => undefined,
      },
      priorities: { lower: () => true, restore: () => true },
      say: () => undefined,
      processes: runner,
      clock,
      // Only names of processes come of it. The world's own chance does not depend on them.
      random: new SeededRandom(1),
      logger: SILENT,
    });
    return {
      ...supervisor,
      lift: (epoch, ended, ranks) => {
        this.#isLifting = true;
        this.#lifted = epoch;
        const over: typeof ended = (end) => {
          if (container.isOver) return;
          this.#tellEnds(epoch);
          ended(end);
        };
        supervisor.lift(epoch, over, ranks);
      },
      stopWorker: (how) => {
        if (this.epoch !== undefined) told.stopped?.(this.epoch);
        supervisor.stopWorker(how);
      },
    };
  }

  /** A standby that is released may die just then. */
  #looksAtFiles(clock: Clock): Promise<undefined> {
    const [standby] = this.#standbys;
    if (this.#doom === 'Releasing' && this.#isLifting && standby !== undefined) {
      this.#doom = undefined;
      standby.endWith(FAILED);
    }
    return new Promise((resolve) => {
      clock.setTimer(FILES_MS, () => resolve(undefined));
    });
  }

  #starts(self: FakeProcess, container: Container): void {
    if (container.isOver || !self.isRunning) return;
    const { train, told } = this.#options;
    const isStandby = self.command.env[ENV_STANDBY] !== undefined;
    const prepareMs = isStandby ? this.#prepareMs() : 0;
    const { clock } = this.#process;
    const process = new SimulatedProcess(self, {
      clock,
      files: this.#files,
      train,
      stopMs: (each) => this.#stopMs(each),
      began: (each) => this.#began(each),
      ended: (each, exit) => this.#ended(each, exit),
    });
    const others = this.#standbys.filter(({ local }) => local === process.local);
    this.#alive.add(process);
    if (isStandby) told.standbyStarted?.(others.length);
    process.begin(prepareMs);
    if (!isStandby || this.#doom !== 'Preparing') return;
    this.#doom = undefined;
    clock.setTimer(prepareMs / 2, () => process.endWith(FAILED));
  }

  #checks(self: FakeProcess): void {
    this.#check = self;
    const { preflight } = this.#options;
    if (preflight !== undefined) checkMachine(self, this.#process.clock, preflight.isSound);
  }

  #prepareMs(): number {
    const { standbys } = this.#options;
    const usualMs = MIN_PREPARE_MS + (standbys?.next() ?? 0) * MAX_PREPARE_MS;
    const slowMs = this.#slowMs;
    this.#slowMs = 0;
    return usualMs + slowMs;
  }

  #began(process: SimulatedProcess): void {
    const { epoch = 0, local, ranks, isStandby } = process;
    this.#isLifting = false;
    if (this.#runs.began(process)) this.#options.told.started(epoch, ranks, isStandby);
    if (!isStandby || this.#doom !== 'Released') return;
    this.#doom = undefined;
    this.#options.told.dies?.(local);
    process.endWith(FAILED);
  }

  #ended(process: SimulatedProcess, exit: Exit): void {
    this.#alive.delete(process);
    this.#runs.ended(process, exit);
  }

  #tellEnds(of?: number): void {
    for (const { epoch, exit } of this.#runs.over(of)) {
      if (exit !== undefined) this.#options.told.ended?.(epoch, exit);
    }
  }

  /** All processes of a worker take the same time. */
  #stopMs(process: SimulatedProcess): number {
    const run = this.#runs.runOf(process);
    if (run === undefined) return 0;
    run.stopMs ??= this.#options.stopMs?.() ?? 0;
    return run.stopMs;
  }
}
