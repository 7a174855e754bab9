/** The parent's end of the watchdog. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { ProcessRunner } from '@lockstep/kube/runtime/ports/process-runner.ts';

/** From the end of a watchdog to the start of the next. */
const RESTART_MS = 500;

/** Tells the watchdog what to end if this process is killed. */
export class Watchdog {
  readonly #script: string;
  /** The first messages to each watchdog. */
  readonly #beginning: readonly string[];
  readonly #onEnd: () => void;
  readonly #groups = new Set<number>();
  #child: ChildProcess;
  #restart: NodeJS.Timeout | undefined;
  #isReleased = false;

  private constructor(script: string, beginning: readonly string[], onEnd: () => void) {
    this.#script = script;
    this.#beginning = beginning;
    this.#onEnd = onEnd;
    this.#child = this.#spawn();
  }

  /**
   * Starts `script`, the built watchdog, over `stateDirectory`; `remove` says whether it deletes
   * that directory too. If it is killed, `onEnd` is called, and another one starts.
   */
  static start(
    script: string,
    stateDirectory: string,
    remove: boolean,
    onEnd: () => void = () => undefined,
  ): Watchdog {
    const removal = remove ? [`remove ${stateDirectory}`] : [];
    return new Watchdog(script, [`state ${stateDirectory}`, ...removal], onEnd);
  }

  /** The process ID of the current one, or the last. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** A runner whose processes the watchdog ends if this process is killed. */
  guard(runner: ProcessRunner): ProcessRunner {
    return {
      start: async (command) => {
        const running = await runner.start(command);
        this.watch(running.pid, running.exited);
        return running;
      },
      killByEnvironment: (name, value) => runner.killByEnvironment(name, value),
    };
  }

  /** Watches one process group until `ended`. */
  watch(group: number, ended: Promise<unknown>): void {
    this.#groups.add(group);
    this.#tell(`group ${group}`);
    void ended.then(() => {
      this.#groups.delete(group);
      this.#tell(`gone ${group}`);
    });
  }

  /** The parent has cleaned up by itself: the watchdog ends and does nothing. */
  release(): void {
    this.#isReleased = true;
    clearTimeout(this.#restart);
    this.#tell('done');
    this.#child.stdin?.end();
  }

  #spawn(): ChildProcess {
    const child = spawn(process.execPath, [this.#script], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.unref();
    // Its end is noticed below, and this process must not die of EPIPE.
    child.stdin?.on('error', () => undefined);
    const ended = (): void => this.#startAnother();
    child.once('error', ended);
    child.once('exit', ended);
    const groups = [...this.#groups].map((group) => `group ${group}`);
    child.stdin?.write([...this.#beginning, ...groups, ''].join('\n'));
    return child;
  }

  #startAnother(): void {
    if (this.#isReleased) return;
    this.#onEnd();
    this.#restart = setTimeout(() => {
      this.#child = this.#spawn();
    }, RESTART_MS);
    this.#restart.unref();
  }

  #tell(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }
}
