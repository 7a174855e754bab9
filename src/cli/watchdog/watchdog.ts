/** The parent's end of the watchdog. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { ProcessRunner } from '../../runtime/ports/process-runner.ts';

/** Tells the watchdog what to end if this process is killed. */
export class Watchdog {
  private readonly child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.child = child;
  }

  /**
   * Starts `script`, the built watchdog, over `stateDirectory`; `remove` says whether it deletes
   * that directory too.
   */
  static start(script: string, stateDirectory: string, remove: boolean): Watchdog {
    const child = spawn(process.execPath, [script], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.unref();
    // If it dies first, this process goes on without a watchdog rather than dying of EPIPE.
    child.stdin?.on('error', () => undefined);
    const watchdog = new Watchdog(child);
    watchdog.tell(`state ${stateDirectory}`);
    if (remove) watchdog.tell(`remove ${stateDirectory}`);
    return watchdog;
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
    this.tell(`group ${group}`);
    void ended.then(() => this.tell(`gone ${group}`));
  }

  /** The parent has cleaned up by itself: the watchdog ends and does nothing. */
  release(): void {
    this.tell('done');
    this.child.stdin?.end();
  }

  private tell(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }
}
