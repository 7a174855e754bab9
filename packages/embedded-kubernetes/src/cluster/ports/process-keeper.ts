/**
 * The port for processes that outlive their starter. A node agent that was killed finds them again,
 * with all that they have written since, and with the exit codes of those that ended.
 */
import type {
  ProcessCommand,
  ProcessRunner,
  RunningProcess,
} from '@lockstep/kube/runtime/ports/process-runner.ts';

export interface ProcessKeeper extends ProcessRunner {
  /** Keys of all processes that were not forgotten, running or not. */
  keys(): Promise<readonly string[]>;
  /** Takes a process over. Undefined if there is none with this key. */
  adopt(key: string, onOutput: OutputHandler): Promise<KeptProcess | undefined>;
  /** The end of this process has been recorded, so it can be dropped. */
  forget(key: string): void;
}

export type OutputHandler = NonNullable<ProcessCommand['onOutput']>;

export interface KeptProcess {
  readonly child: RunningProcess;
  readonly command: Pick<ProcessCommand, 'argv' | 'env' | 'cwd'>;
  /** The process ended before it was taken over; `child.exited` says how. */
  readonly hasExited: boolean;
}
