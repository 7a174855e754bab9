/**
 * Looks at a worker's processes in `/proc`. It walks down from the worker and never lists the
 * machine. Reads of these files do not wait for the process, so they may be synchronous.
 */
import { readdirSync } from 'node:fs';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { ProcessLook, ProcessLooks, ThreadLook } from '../worker/process-looks.ts';
import { hasEnded, type Stat, statOf, textOf } from './proc-stat.ts';

/** Processes of a worker that are looked at. */
const MAX_PROCESSES = 1024;
/** Threads of a worker that hangs, the first processes first, that are looked at and reported. */
const MAX_THREADS = 64;
/** Threads of one process that are asked for its children. */
const MAX_PARENT_THREADS = 64;
/** Threads that are asked how long they were runnable. */
const MAX_MEASURED_THREADS = 256;
/** Limits one look to about 50 ms. */
const MAX_READS = 4096;
const NANOSECONDS_IN_MS = 1_000_000;

export interface ProcLooksOptions {
  readonly clock: Clock;
  /** By default `/proc`. */
  readonly proc?: string;
  /** The directory of the container's own cgroup; undefined: it has none, or it cannot be read. */
  readonly cgroup: string | undefined;
}

export function createProcLooks(options: ProcLooksOptions): ProcessLooks {
  const { clock, proc = '/proc', cgroup } = options;
  return {
    isAlive: (pid) => new Walk(proc).isAliveNow(pid),
    tree(pid, sharers = 1) {
      const walk = new Walk(proc, Math.floor(MAX_READS / sharers));
      const processes = walk.processes(pid);
      if (processes === undefined) return undefined;
      return { atMs: clock.monotonic(), isAlive: walk.isAlive, isCut: walk.isCut, processes };
    },
    threads: (pid) => new Walk(proc).threads(pid),
    oomKills: () => (cgroup === undefined ? undefined : oomKills(cgroup)),
  };
}

/**
 * Where the kernel counts the memory of this container; undefined: not known. In a container of
 * cgroup v1, paths may be the machine's, while the mount shows only the container's own.
 */
export function ownCgroup(proc = '/proc', mount = '/sys/fs/cgroup'): string | undefined {
  const own = textOf(`${proc}/self/cgroup`) ?? '';
  const first = /^[0-9]+:(?:[^:]*,)?memory(?:,[^:]*)?:(\/.*)$/m.exec(own)?.[1];
  if (first !== undefined) {
    const directories = [`${mount}/memory${first === '/' ? '' : first}`, `${mount}/memory`];
    return directories.find((directory) => oomKills(directory) !== undefined);
  }
  const path = /^0::(\/.*)$/m.exec(own)?.[1];
  return path === undefined ? undefined : `${mount}${path === '/' ? '' : path}`;
}

function oomKills(cgroup: string): number | undefined {
  const text = textOf(`${cgroup}/memory.events`) ?? textOf(`${cgroup}/memory.oom_control`);
  const count = /^oom_kill ([0-9]+)$/m.exec(text ?? '')?.[1];
  return count === undefined ? undefined : Number(count);
}

/** The threads of a process and of those below it; undefined if they are too many to look at. */
export function threadIds(pid: number, proc = '/proc'): readonly number[] | undefined {
  const walk = new Walk(proc);
  const threads = walk.threadIds(pid);
  return walk.isCut ? undefined : threads;
}

class Walk {
  isAlive = false;
  /** The walk ended at a limit. */
  isCut = false;
  readonly #proc: string;
  readonly #maxReads: number;
  #reads = 0;
  #threads = 0;
  #measured = 0;

  constructor(proc: string, maxReads = MAX_READS) {
    this.#proc = proc;
    this.#maxReads = maxReads;
  }

  isAliveNow(pid: number): boolean {
    const stat = this.#stat(String(pid));
    return stat === undefined ? this.#stat('self') === undefined : !hasEnded(stat);
  }

  /** Undefined if there is no such file system. */
  processes(root: number): ReadonlyMap<string, ProcessLook> | undefined {
    if (this.#stat('self') === undefined) return undefined;
    const found = new Map<string, ProcessLook>();
    for (const pid of this.#pids(root)) {
      const stat = this.#stat(String(pid));
      if (stat === undefined) continue;
      const isOver = hasEnded(stat);
      if (pid === root) this.isAlive = !isOver;
      if (isOver) continue;
      const threads = this.#firstThreads(pid);
      const states = new Set([stat.state, ...threads.map(({ state }) => state)]);
      const runnableMs = this.#runnableMs(
        pid,
        new Set([pid, ...threads.map((each) => each.thread)]),
      );
      const { parent, cpuMs, startTicks } = stat;
      found.set(`${pid} ${startTicks}`, { parent, states, cpuMs, runnableMs });
    }
    return found;
  }

  threadIds(root: number): readonly number[] {
    return [...this.#pids(root)].flatMap((pid) => this.#threadsOf(pid));
  }

  threads(root: number): readonly ThreadLook[] {
    return [...this.#pids(root)]
      .flatMap((pid) => this.#firstThreads(pid))
      .map((thread) => {
        const path = `${this.#proc}/${thread.pid}/task/${thread.thread}/wchan`;
        return { ...thread, waitsIn: textOf(path) || '0' };
      });
  }

  /** The process and those below it, from the top. */
  *#pids(root: number): Generator<number> {
    const open = [root];
    for (let at = 0; at < open.length; at++) {
      if (at === MAX_PROCESSES) {
        this.isCut = true;
        return;
      }
      const pid = open[at] ?? root;
      yield pid;
      for (const thread of this.#threadsOf(pid).slice(0, MAX_PARENT_THREADS)) {
        const children = this.#read(`${pid}/task/${thread}/children`) ?? '';
        open.push(
          ...children
            .split(' ')
            .filter((text) => text !== '')
            .map(Number),
        );
      }
    }
  }

  #firstThreads(pid: number): readonly Omit<ThreadLook, 'waitsIn'>[] {
    const left = MAX_THREADS - this.#threads;
    const threads = left === 0 ? [] : this.#threadsOf(pid).slice(0, left);
    this.#threads += threads.length;
    return threads.flatMap((thread) => {
      const stat = this.#stat(`${pid}/task/${thread}`);
      return stat === undefined ? [] : [{ pid, thread, name: stat.name, state: stat.state }];
    });
  }

  /** By thread. A thread whose cgroup has used up its share of the CPU waits for one, too. */
  #runnableMs(pid: number, threads: Iterable<number>): ReadonlyMap<number, number> {
    const found = new Map<number, number>();
    for (const thread of threads) {
      if (this.#measured++ >= MAX_MEASURED_THREADS) break;
      const text = this.#read(`${pid}/task/${thread}/schedstat`) ?? '';
      const [ran = 0, waited = 0] = text.split(' ').map(Number);
      if (ran > 0) found.set(thread, (ran + waited) / NANOSECONDS_IN_MS);
    }
    return found;
  }

  #threadsOf(pid: number): readonly number[] {
    if (this.#isSpent()) return [];
    try {
      return readdirSync(`${this.#proc}/${pid}/task`).map(Number);
    } catch {
      return [];
    }
  }

  #stat(path: string): Stat | undefined {
    return statOf(this.#read(`${path}/stat`) ?? '');
  }

  #read(path: string): string | undefined {
    return this.#isSpent() ? undefined : textOf(`${this.#proc}/${path}`);
  }

  #isSpent(): boolean {
    const isSpent = this.#reads++ >= this.#maxReads;
    this.isCut ||= isSpent;
    return isSpent;
  }
}
