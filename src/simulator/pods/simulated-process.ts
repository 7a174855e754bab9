/**
 * One process of a simulated worker. It does what the agent's environment and files say: it prepares
 * itself, waits for its start file if it has one, and trains until somebody ends it.
 */
import type { FakeProcess } from '@lockstep/kube/runtime/memory/memory-process-runner.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { exitOf } from '../../agent/worker-exit.ts';
import { ENV_EPOCH, ENV_PROGRESS_FILE, ENV_STANDBY, ENV_START_FILE } from '../../jobset/names.ts';
import type { MemberRanks } from '../../jobset/ranks/member-ranks.ts';
import type { Exit } from '../../jobset/worker-end/worker-end.ts';
import type { FilesOfOneStart, PodFiles } from './pod-files.ts';

/** A worker trains as long as nobody calls what this returns. `report` writes a line of progress. */
export type Train = (report: (line: string) => void) => () => void;

export interface ProcessPlan {
  readonly clock: Clock;
  readonly files: PodFiles;
  /** Absent: it does nothing. */
  readonly train: Train | undefined;
  /** How long it takes to end once it is to stop. */
  readonly stopMs: (process: SimulatedProcess) => number;
  /** It begins to train in its epoch. */
  readonly began: (process: SimulatedProcess) => void;
  readonly ended: (process: SimulatedProcess, exit: Exit) => void;
}

export class SimulatedProcess {
  /** It was started beside a worker. */
  readonly isStandby: boolean;
  /** Its number in the Pod, from 0. */
  readonly local: number;
  /** Its numbers in the group, as its variables say; undefined: it is no rank. */
  readonly ranks: MemberRanks | undefined;
  readonly #self: FakeProcess;
  readonly #plan: ProcessPlan;
  readonly #files: FilesOfOneStart | undefined;
  #epoch: number | undefined;
  #isWaiting = false;
  #hasReported = false;
  #isStopping = false;
  #isOver = false;
  #silence: () => void = () => undefined;

  constructor(self: FakeProcess, plan: ProcessPlan) {
    const { env } = self.command;
    this.#self = self;
    this.#plan = plan;
    this.isStandby = env[ENV_STANDBY] !== undefined;
    this.ranks = ranksIn(env);
    this.local = Number(env['LOCAL_RANK'] ?? 0);
    this.#files = plan.files.at(env[ENV_PROGRESS_FILE]);
    self.onSignal(() => this.#stops());
    void self.exited.then((exit) => this.#ends(exitOf(exit)));
  }

  /** It prepares itself for this time first. */
  begin(prepareMs: number): void {
    const { env } = this.#self.command;
    const begins = (): void =>
      env[ENV_START_FILE] === undefined ? this.#begins(Number(env[ENV_EPOCH])) : this.#waits();
    if (prepareMs === 0) begins();
    else this.#plan.clock.setTimer(prepareMs, begins);
  }

  /** The epoch in which it trains; undefined if it does not. */
  get epoch(): number | undefined {
    return this.#epoch;
  }

  /** It is prepared, and waits for its start file. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  endWith(exit: Exit): void {
    if (this.#isOver) return;
    if ('signal' in exit) this.#self.die(exit.signal);
    else this.#self.exit(exit.exitCode);
    this.#ends(exit);
  }

  /** It does nothing more, and runs on. */
  hang(): void {
    this.#silence();
  }

  /** It has reported a step. */
  get hasReported(): boolean {
    return this.#hasReported;
  }

  report(line: string): void {
    if (this.#isOver) return;
    this.#hasReported = true;
    this.#files?.write(line);
  }

  #waits(): void {
    const files = this.#files;
    if (this.#isOver || files === undefined) return;
    files.write('phase=standby');
    this.#isWaiting = true;
    const begins = (): void => {
      this.#isWaiting = false;
      this.#begins(Number(/^epoch (\d+)\n$/.exec(files.startText ?? '')?.[1]));
    };
    if (files.startText === undefined) files.begun = begins;
    else begins();
  }

  #begins(epoch: number): void {
    if (this.#isOver) return;
    this.#epoch = epoch;
    this.#silence = this.#plan.train?.((line) => this.report(line)) ?? this.#silence;
    this.#plan.began(this);
  }

  #stops(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    const delayMs = this.#plan.stopMs(this);
    const end = (): void => this.endWith({ signal: 'SIGTERM' });
    if (delayMs === 0) end();
    else this.#plan.clock.setTimer(delayMs, end);
  }

  #ends(exit: Exit): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#isWaiting = false;
    this.#silence();
    this.#plan.ended(this, exit);
  }
}

function ranksIn(env: Readonly<Record<string, string>>): MemberRanks | undefined {
  if (env['RANK'] === undefined) return undefined;
  const number = (name: string): number => Number(env[name]);
  return {
    processes: number('LOCAL_WORLD_SIZE'),
    firstRank: number('RANK') - number('LOCAL_RANK'),
    world: number('WORLD_SIZE'),
    groupRank: number('GROUP_RANK'),
    groups: number('GROUP_WORLD_SIZE'),
    master: env['MASTER_ADDR'] ?? '',
  };
}
