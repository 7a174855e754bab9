/**
 * The port of processes that outlive whoever has started them: a node agent that was killed finds
 * them again, with all that they have written since and with the exit codes of those that ended.
 */
import type {
  ProcessCommand,
  ProcessRunner,
  RunningProcess,
} from '../../runtime/ports/process-runner.ts';

export interface ProcessKeeper extends ProcessRunner {
  /** Of all processes that were started with a key and not forgotten, running or not. */
  keys(): Promise<readonly string[]>;
  /** Takes a process over. Undefined if there is none of this key. */
  adopt(key: string, onOutput: OutputHandler): Promise<KeptProcess | undefined>;
  /** Its end has been noted: nobody will ask for it again. */
  forget(key: string): void;
}

export type OutputHandler = NonNullable<ProcessCommand['onOutput']>;

export interface KeptProcess {
  readonly child: RunningProcess;
  readonly command: Pick<ProcessCommand, 'argv' | 'env' | 'cwd'>;
  /** It ended before it was taken over; `child.exited` says how. */
  readonly hasExited: boolean;
}
