/** The port through which a supervisor looks at the processes of its worker. */

/** A process and all below it, at one time. */
export interface TreeLook {
  /** Monotonic, in milliseconds. */
  readonly atMs: number;
  /** The first process runs: it has not ended. */
  readonly isAlive: boolean;
  /** There are more processes than a look may read. */
  readonly isCut?: boolean;
  /** By process, named by number and time of its start; parents come first. */
  readonly processes: ReadonlyMap<string, ProcessLook>;
}

export interface ProcessLook {
  readonly parent?: number;
  /** Letters of `/proc/PID/stat`, of the process and of threads that were looked at. */
  readonly states: ReadonlySet<string>;
  /** CPU time so far, in milliseconds. */
  readonly cpuMs: number;
  /**
   * How long each thread that was looked at has run, or waited for a CPU, in milliseconds; empty
   * where the system does not tell.
   */
  readonly runnableMs: ReadonlyMap<number, number>;
}

export interface ThreadLook {
  readonly pid: number;
  readonly thread: number;
  readonly name: string;
  /** A letter. */
  readonly state: string;
  /** The kernel function in which it waits; `0`: none, or we may not see it. */
  readonly waitsIn: string;
}

export interface ProcessLooks {
  /** Whether a process runs; true where the system does not show processes. Costs little. */
  isAlive(pid: number): boolean;
  /**
   * Undefined where the system does not show processes. Bounded, and never waits. Looks at `sharers`
   * trees, one each, cost together what a look at one may cost.
   */
  tree(pid: number, sharers?: number): TreeLook | undefined;
  /** The first threads below a process. */
  threads(pid: number): readonly ThreadLook[];
  /** How often memory ran out in this container so far; undefined: not known. */
  oomKills(): number | undefined;
}
