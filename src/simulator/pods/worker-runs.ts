/** Which processes of one Pod train in which epoch. */
import { type Exit, exitCodeIn } from '../../jobset/worker-end/worker-end.ts';
import type { SimulatedProcess } from './simulated-process.ts';

/** The processes that train in one epoch, one for each local rank. */
export interface WorkerRun {
  readonly epoch: number;
  readonly processes: SimulatedProcess[];
  readonly alive: Set<SimulatedProcess>;
  /** The first exit that was not with 0, or else the last. */
  exit: Exit | undefined;
  /** How long it takes to end; undefined: it was not asked to. */
  stopMs: number | undefined;
}

export class WorkerRuns {
  #runs: readonly WorkerRun[] = [];

  /** The newest with a process that lives. */
  get current(): WorkerRun | undefined {
    return this.#runs.findLast(({ alive }) => alive.size > 0);
  }

  /** The epochs in which processes train: of a sound agent, one at most. */
  get epochs(): readonly number[] {
    return this.#runs.filter(({ alive }) => alive.size > 0).map(({ epoch }) => epoch);
  }

  runOf(process: SimulatedProcess): WorkerRun | undefined {
    return this.#runs.find(({ processes }) => processes.includes(process));
  }

  /** A process begins to train. True if it is not one more process of a worker that runs. */
  began(process: SimulatedProcess): boolean {
    const { epoch = 0, local } = process;
    const known = this.#runs.find(
      (run) => run.epoch === epoch && run.processes.every((each) => each.local !== local),
    );
    known?.processes.push(process);
    known?.alive.add(process);
    if (known !== undefined) return false;
    const alive = new Set([process]);
    const run = { epoch, processes: [process], alive, exit: undefined, stopMs: undefined };
    this.#runs = [...this.#runs, run];
    return true;
  }

  ended(process: SimulatedProcess, exit: Exit): void {
    const run = this.runOf(process);
    run?.alive.delete(process);
    if (run !== undefined && exitCodeIn(run.exit ?? { exitCode: 0 }) === 0) run.exit = exit;
  }

  /** Forgets the workers that have ended, or only the ones of this epoch. */
  over(epoch?: number): readonly WorkerRun[] {
    const isOver = (run: WorkerRun): boolean =>
      run.alive.size === 0 && (epoch === undefined || run.epoch === epoch);
    const over = this.#runs.filter(isOver);
    this.#runs = this.#runs.filter((run) => !isOver(run));
    return over;
  }
}
