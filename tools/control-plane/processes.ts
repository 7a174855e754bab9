/** Long-lived programs beside tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const STOP_GRACE_MS = 5_000;
const RESTART_INTERVAL_MS = 500;

/**
 * Child processes with a log file each; the last started is stopped first. A process that dies is
 * started again, as kubelets do with the Pods of a control plane. `NAME.pid` in the directory is
 * the current one's.
 */
export class Processes {
  readonly #directory: string;
  readonly #running: Running[] = [];
  readonly #killAll = (): void => {
    for (const { child } of this.#running) child?.kill('SIGKILL');
  };

  constructor(directory: string) {
    this.#directory = directory;
    mkdirSync(directory, { recursive: true });
    process.once('exit', this.#killAll);
  }

  start(name: string, program: string, flags: Readonly<Record<string, string>>): void {
    const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
    const running: Running = { isStopping: false, child: undefined, ended: Promise.resolve() };
    const run = async (): Promise<void> => {
      while (!running.isStopping) {
        const { child, ended } = this.#spawn(name, program, args);
        running.child = child;
        await ended;
      }
    };
    running.ended = run();
    this.#running.push(running);
  }

  async stop(): Promise<void> {
    for (const running of this.#running.splice(0).reverse()) {
      running.isStopping = true;
      const timer = setTimeout(() => running.child?.kill('SIGKILL'), STOP_GRACE_MS);
      running.child?.kill('SIGTERM');
      await running.ended;
      clearTimeout(timer);
    }
    process.off('exit', this.#killAll);
  }

  /**
   * `ended` comes no sooner than `RESTART_INTERVAL_MS`, so that no process is started in a tight
   * loop.
   */
  #spawn(name: string, program: string, args: readonly string[]) {
    const log = openSync(join(this.#directory, `${name}.log`), 'a', 0o600);
    const child = spawn(program, args, { stdio: ['ignore', log, log] });
    closeSync(log);
    writeFileSync(join(this.#directory, `${name}.pid`), `${child.pid}`);
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => resolve());
    });
    const interval = new Promise((resolve) => setTimeout(resolve, RESTART_INTERVAL_MS));
    return { child, ended: Promise.all([exited, interval]) };
  }
}

interface Running {
  isStopping: boolean;
  child: ChildProcess | undefined;
  ended: Promise<void>;
}
