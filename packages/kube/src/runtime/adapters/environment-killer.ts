/** Kills all processes that a container has started. */
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Finds processes by a variable in their environment, as `/proc` shows it, and kills them. A
 * process can leave its group and its parent, but its children inherit the environment. Calls
 * during a scan share the next one, so many containers that end together cost two scans.
 */
export class EnvironmentKiller {
  #waiting: Hunt[] = [];
  #isScanning = false;

  /** Resolves with the number of killed processes, once none is left. */
  kill(name: string, value: string): Promise<number> {
    return this.#hunt(`${name}=${value}`, 'Whole');
  }

  /** Kills those whose value begins with `beginning`, and never a process of another user. */
  killBeginning(name: string, beginning: string): Promise<number> {
    return this.#hunt(`${name}=${beginning}`, 'Beginning');
  }

  #hunt(entry: string, matches: Hunt['matches']): Promise<number> {
    return new Promise((resolve) => {
      this.#waiting.push({ entry: Buffer.from(entry), matches, killed: new Set(), resolve });
      if (!this.#isScanning) void this.#scan();
    });
  }

  async #scan(): Promise<void> {
    this.#isScanning = true;
    let pause = FIRST_PAUSE_MS;
    let passes = 0;
    while (this.#waiting.length > 0) {
      const hunts = this.#waiting;
      this.#waiting = [];
      const remaining = await passOver(hunts);
      passes = remaining.length > 0 ? passes + 1 : 0;
      for (const hunt of hunts) {
        if (!remaining.includes(hunt) || passes >= MAX_PASSES) hunt.resolve(hunt.killed.size);
        else this.#waiting.push(hunt);
      }
      if (remaining.length === 0) pause = FIRST_PAUSE_MS;
      else await delay(pause);
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
    this.#isScanning = false;
  }
}

interface Hunt {
  readonly entry: Buffer;
  readonly matches: 'Whole' | 'Beginning';
  readonly killed: Set<number>;
  readonly resolve: (count: number) => void;
}

/** A killed process takes a moment to end, and may have forked before. */
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 50;
/** About two seconds. A process that survives SIGKILL for longer hangs in the kernel. */
const MAX_PASSES = 45;

/** How many processes a scan reads before it yields, about half a millisecond. */
const PROCESSES_PER_TURN = 64;

/** Kills what each hunt looks for, and returns the hunts that still found something. */
async function passOver(hunts: readonly Hunt[]): Promise<readonly Hunt[]> {
  const found = new Set<Hunt>();
  let read = 0;
  for (const pid of processIds()) {
    if (++read % PROCESSES_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    const environment = environmentOf(pid);
    if (environment === undefined) continue;
    for (const hunt of hunts) {
      if (!holds(environment, hunt)) continue;
      if (hunt.matches === 'Beginning' && !isOurs(pid)) continue;
      found.add(hunt);
      hunt.killed.add(pid);
      kill(pid);
    }
  }
  return [...found];
}

function processIds(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^[0-9]+$/.test(name))
      .map(Number)
      .filter((pid) => pid !== process.pid);
  } catch {
    // There is no `/proc` on this system, so nothing can be found.
    return [];
  }
}

/** Large enough for most environments. A larger one makes the buffer grow for good. */
const FIRST_BUFFER_BYTES = 64 * 1024;
/** Twice what Linux allows by default for arguments and environment together. */
const MAX_ENVIRONMENT_BYTES = 4 * 1024 * 1024;

/** Shared by all reads, because a buffer for each process of the machine would be much garbage. */
let shared: Buffer = Buffer.alloc(0);

/**
 * `NAME=value` entries, each ended by a zero byte, valid until the next call. Undefined for a
 * process that is gone or not ours.
 */
function environmentOf(pid: number): Buffer | undefined {
  let file: number;
  try {
    file = openSync(`/proc/${pid}/environ`, 'r');
  } catch {
    return undefined;
  }
  try {
    let length = 0;
    for (;;) {
      if (length === shared.length) shared = grown(shared);
      const read = readSync(file, shared, length, shared.length - length, length);
      length += read;
      if (read === 0 || length >= MAX_ENVIRONMENT_BYTES) return shared.subarray(0, length);
    }
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}

function grown(buffer: Buffer): Buffer {
  const larger = Buffer.alloc(Math.max(FIRST_BUFFER_BYTES, 2 * buffer.length));
  buffer.copy(larger);
  return larger;
}

function holds(environment: Buffer, { entry, matches }: Hunt): boolean {
  for (let at = environment.indexOf(entry); at >= 0; at = environment.indexOf(entry, at + 1)) {
    const end = at + entry.length;
    const isEnd = matches === 'Beginning' || end === environment.length || environment[end] === 0;
    if (isEnd && (at === 0 || environment[at - 1] === 0)) return true;
  }
  return false;
}

/** Root reads the environments of all users. */
function isOurs(pid: number): boolean {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === process.getuid?.();
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended in the meantime.
  }
}
