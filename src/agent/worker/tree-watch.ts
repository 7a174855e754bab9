/** Looks at a worker's processes now and then, so that its end can be compared with before. */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { Clock, Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Signs } from '../../jobset/worker-end/worker-end.ts';
import type { ProcessLooks, TreeLook } from './process-looks.ts';

const LOOK_MS = 2500;
/** The time between two looks that are compared. */
const SPAN_MS = 5000;
/** How many looks are kept: one at each end of the span, and the looks between. */
const KEPT_LOOKS = 4;
/** A first process that uses less of the CPU time than this only waits for the others. */
const LAUNCHER_SHARE = 0.1;
/** The longest time between a step and the report of it. */
const STEP_DELAY_MS = 1000;

/** The result of looks at the processes of a worker that has ended. */
export type SeenProcesses = Pick<
  Signs,
  'states' | 'stoppedMs' | 'cpuMs' | 'runnableMs' | 'launcher'
>;

/** What one process of a worker did, with those below it. */
export interface Activity {
  /** One of them was stopped since its last step. */
  readonly isStopped: boolean;
  /** CPU time in 5 s; absent: not known yet. */
  readonly cpuMs?: number;
  /** The longest time in these 5 s that a thread ran or waited for a CPU; absent: not known. */
  readonly runnableMs?: number;
}

/** A process that is stopped, by a signal or by a debugger. */
interface Stop {
  /** When a look first found the process stopped; monotonic. */
  readonly sinceMs: number;
  /** An earlier look saw the process run. */
  readonly hadRun: boolean;
}

export interface TreeWatchOptions {
  readonly pid: number;
  readonly looks: ProcessLooks;
  readonly clock: Clock;
  /** Its place among processes that share the cost of looks; absent: it is the only one. */
  readonly place?: { readonly index: number; readonly count: number };
}

export class TreeWatch {
  readonly #options: TreeWatchOptions;
  readonly #looks: TreeLook[] = [];
  /** At the newest look, by process. */
  #stops: ReadonlyMap<string, Stop> = new Map();
  /** How often memory had run out at the start, and at the last looks. */
  readonly #oomKills: (number | undefined)[];
  #timer: Timer | undefined;
  #isFrozen = false;

  constructor(options: TreeWatchOptions) {
    this.#options = options;
    this.#oomKills = [options.looks.oomKills()];
    const { index, count } = this.#place;
    // Looks at several processes are spread, so that none of them holds the agent up for long.
    this.#arm((LOOK_MS * (index + 1)) / count);
  }

  get #place(): { readonly index: number; readonly count: number } {
    return this.#options.place ?? { index: 0, count: 1 };
  }

  /** Looks now. False if the first process has ended already. Remembers nothing after `freeze`. */
  look(): boolean {
    const look = this.#options.looks.tree(this.#options.pid, this.#place.count);
    if (look === undefined) return true;
    if (look.isAlive && !this.#isFrozen) {
      this.#stops = this.#stopsIn(look);
      this.#looks.push(look);
    }
    if (this.#looks.length > KEPT_LOOKS) this.#looks.shift();
    return look.isAlive;
  }

  /** Costs little, unlike a look. */
  get isAlive(): boolean {
    return this.#options.looks.isAlive(this.#options.pid);
  }

  /** Memory ran out a short while ago. A child that was killed for it hours ago says nothing. */
  get hadOom(): boolean {
    const [before] = this.#oomKills;
    return before !== undefined && (this.#options.looks.oomKills() ?? 0) > before;
  }

  /**
   * Ignores later looks: the worker is being ended, or a debugger holds its processes, which look
   * stopped then.
   */
  freeze(): void {
    this.#isFrozen = true;
    this.#timer?.cancel();
  }

  /**
   * The result of the newest look, and of the look about 5 s before it. The worker ended at `endMs`
   * and made its newest step at `stepMs`, both monotonic.
   */
  seenAt(endMs: number, stepMs?: number): SeenProcesses {
    const newest = this.#looks.at(-1);
    const before = newest === undefined ? undefined : this.#before(newest);
    if (newest === undefined) return {};
    const all = [...newest.processes];
    const stopped = all.filter(([id]) => this.#saysSomething(id, stepMs));
    const has = (state: string): boolean => stopped.some(([, { states }]) => states.has(state));
    const waited = all.some(
      ([id, { states }]) => states.has('D') && before?.processes.get(id)?.states.has('D') === true,
    );
    const states = `${has('T') ? 'T' : ''}${has('t') ? 't' : ''}${waited ? 'D' : ''}`;
    const sinceMs = Math.max(...stopped.map(([id]) => this.#stops.get(id)?.sinceMs ?? 0));
    const used = before === undefined ? undefined : cpuMsBetween(before, newest);
    const runnableMs = before === undefined ? undefined : runnableMsBetween(before, newest);
    return defined({
      states: states === '' ? undefined : states,
      stoppedMs: stopped.length === 0 ? undefined : Math.round(endMs - sinceMs),
      cpuMs: used && Math.round(used.all),
      runnableMs: runnableMs && Math.round(runnableMs),
      launcher: (used !== undefined && used.first < LAUNCHER_SHARE * used.all) || undefined,
    });
  }

  /**
   * What a process did with those below it, at the newest look and in the 5 s before. It made its newest
   * step at `stepMs`. Undefined if the look did not find it.
   */
  activityOf(pid: number, stepMs: number | undefined): Activity | undefined {
    const newest = this.#looks.at(-1);
    const all = [...(newest?.processes ?? [])];
    const pids = new Set<number>();
    const own = new Map(
      all.filter(([id, { parent = 0 }]) => {
        const number = Number.parseInt(id, 10);
        const isOwn = number === pid || pids.has(parent);
        if (isOwn) pids.add(number);
        return isOwn;
      }),
    );
    if (newest === undefined || own.size === 0) return undefined;
    const isStopped = [...own.keys()].some((id) => this.#saysSomething(id, stepMs));
    const before = this.#before(newest);
    if (before === undefined) return { isStopped };
    const look = { ...newest, processes: own };
    const runnableMs = runnableMsBetween(before, look);
    return { isStopped, cpuMs: cpuMsBetween(before, look).all, ...defined({ runnableMs }) };
  }

  /** The first process only waits for others. */
  get isLauncher(): boolean {
    return this.seenAt(0).launcher === true;
  }

  /** The children of the first process, those that use the most CPU time first. */
  get busyChildren(): readonly number[] {
    const children = [...(this.#looks.at(-1)?.processes ?? [])].flatMap(([id, { parent }]) => {
      const pid = Number.parseInt(id, 10);
      const cpuMs = this.activityOf(pid, undefined)?.cpuMs ?? 0;
      return parent === this.#options.pid && cpuMs > 0 ? [{ pid, cpuMs }] : [];
    });
    return children.toSorted((a, b) => b.cpuMs - a.cpuMs).map(({ pid }) => pid);
  }

  /**
   * Whether the worker may need a stopped process. After a step, it needs one that was stopped since
   * then. Without a step, it needs its first process, and one that an earlier look saw run.
   */
  #saysSomething(id: string, stepMs: number | undefined): boolean {
    const stop = this.#stops.get(id);
    if (stop === undefined) return false;
    if (stepMs !== undefined) return stop.sinceMs > stepMs - STEP_DELAY_MS;
    return stop.hadRun || id.startsWith(`${this.#options.pid} `);
  }

  #stopsIn({ atMs, processes }: TreeLook): ReadonlyMap<string, Stop> {
    const hadRun = (id: string): boolean => this.#looks.at(-1)?.processes.has(id) === true;
    return new Map(
      [...processes].flatMap(([id, { states }]) =>
        states.has('T') || states.has('t')
          ? [[id, this.#stops.get(id) ?? { sinceMs: atMs, hadRun: hadRun(id) }]]
          : [],
      ),
    );
  }

  /** The look that is nearest to 5 s before, if one is near enough. */
  #before({ atMs }: TreeLook): TreeLook | undefined {
    const distance = (look: TreeLook): number => Math.abs(atMs - look.atMs - SPAN_MS);
    const [nearest] = this.#looks.toSorted((a, b) => distance(a) - distance(b));
    return nearest !== undefined && distance(nearest) <= LOOK_MS ? nearest : undefined;
  }

  #arm(delayMs = LOOK_MS): void {
    this.#timer = this.#options.clock.setTimer(delayMs, () => {
      this.#arm();
      this.look();
      this.#oomKills.push(this.#options.looks.oomKills());
      if (this.#oomKills.length > KEPT_LOOKS) this.#oomKills.shift();
    });
  }
}

/** What the processes of a worker used together, from looks at each. */
export function usedByAll(
  all: readonly SeenProcesses[],
): Pick<SeenProcesses, 'cpuMs' | 'runnableMs'> {
  const cpu = all.flatMap(({ cpuMs }) => cpuMs ?? []);
  const runnable = all.flatMap(({ runnableMs }) => runnableMs ?? []);
  return defined({
    cpuMs: cpu.length === 0 ? undefined : cpu.reduce((sum, ms) => sum + ms, 0),
    runnableMs: runnable.length === 0 ? undefined : Math.max(...runnable),
  });
}

/**
 * CPU time in 5 s, from the use between two looks. A new process counts with all its time, unless the
 * first look may have missed it.
 */
function cpuMsBetween(
  before: TreeLook,
  newest: TreeLook,
): { readonly first: number; readonly all: number } {
  const share = SPAN_MS / (newest.atMs - before.atMs);
  const used = [...newest.processes].map(([id, { cpuMs }]) => {
    const unknownMs = before.isCut === true ? cpuMs : 0;
    return share * Math.max(0, cpuMs - (before.processes.get(id)?.cpuMs ?? unknownMs));
  });
  return { first: used[0] ?? 0, all: used.reduce((sum, ms) => sum + ms, 0) };
}

/** The longest time in 5 s that a thread ran or waited for a CPU; undefined: not known. */
function runnableMsBetween(before: TreeLook, newest: TreeLook): number | undefined {
  const passedMs = newest.atMs - before.atMs;
  const all = [...newest.processes].flatMap(([id, { runnableMs }]) =>
    [...runnableMs].flatMap(([thread, ms]) => {
      const beforeMs = before.processes.get(id)?.runnableMs.get(thread);
      // The thread is older than the first look, which was bounded and did not measure it.
      if (beforeMs === undefined && ms > passedMs) return [];
      return [ms - (beforeMs ?? 0)];
    }),
  );
  return all.length === 0 ? undefined : (SPAN_MS / passedMs) * Math.max(0, ...all);
}
