/** The port through which a supervisor looks at the ranks below its worker's launcher. */
import type { Exit } from '../../jobset/worker-end/worker-end.ts';

export interface RankState {
  readonly parent: number;
  /** With the process id, it names one process for ever. */
  readonly startTicks: string;
  readonly hasEnded: boolean;
  /** How it ended, if its parent has not taken note of that, and we may see it; absent too for 0. */
  readonly exit?: Exit;
}

export interface RankLooks {
  /** Undefined if there is no such process. Costs little, and never waits. */
  state(pid: number): RankState | undefined;
  /** How many processes a process has started that are still there. */
  children(pid: number): number;
  /** Whether `NAME=value` is in the environment with which the process began. Never rejects. */
  hasVariable(pid: number, entry: string): Promise<boolean>;
}
