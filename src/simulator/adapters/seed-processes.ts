/**
 * Runs the scenarios of seeds in processes of their own, several at a time. The result does not
 * depend on which is done first: of several seeds that violate a property, the lowest counts.
 */
import { type ChildProcess, fork } from 'node:child_process';
import type { RunResult } from '../run.ts';
import type { Scenario } from '../scenario.ts';

/** A process that the simulator starts with this argument runs the scenarios that it is sent. */
export const SEED_PROCESS = 'seed-process';
/** Above the longest run of the most members, a day long. */
const SEED_LIMIT_MS = 24 * 60 * 60_000;

/** What is left of a run: its events can be had by another run. */
export type SeedResult = Omit<RunResult, 'events'>;

export interface SeedRange {
  readonly first: number;
  readonly last: number;
}

interface SeedRunOptions {
  /** So many processes at a time. */
  readonly jobs: number;
  readonly scenarioOf: (seed: number) => Scenario;
  /** One more seed held. */
  readonly held: (result: SeedResult) => void;
}

/** The lowest seed that violates a property; undefined: all hold. Rejects if a process dies. */
export async function runInProcesses(
  { first, last }: SeedRange,
  { jobs, scenarioOf, held }: SeedRunOptions,
): Promise<number | undefined> {
  let next = first;
  let lowest: number | undefined;
  const count = Math.min(jobs, last - first + 1);
  const processes = Array.from({ length: count }, () => new SeedProcess());
  const work = async (process: SeedProcess): Promise<void> => {
    while (next <= last && lowest === undefined) {
      const seed = next++;
      const result = await process.run(scenarioOf(seed));
      if (result === undefined) return;
      if (result.violation === undefined) held(result);
      else if (lowest === undefined || seed < lowest) lowest = seed;
      // Only lower seeds matter now.
      for (const other of processes) if (other.seed > (lowest ?? last)) other.end();
    }
  };
  try {
    await Promise.all(processes.map(work));
  } finally {
    for (const process of processes) process.end();
  }
  return lowest;
}

/** Runs each scenario that the process that started this one sends, and ends with it. */
export function serveSeeds(run: (scenario: Scenario) => Promise<SeedResult>): void {
  process.on('message', (scenario: Scenario) => {
    void run(scenario).then(({ violation, simulatedMs, epochs }) => {
      process.send?.({ violation, simulatedMs, epochs });
    });
  });
  process.once('disconnect', () => process.exit());
}

class SeedProcess {
  /** The seed that it runs; 0: none. */
  seed = 0;
  readonly #child: ChildProcess;
  #answered: (result: SeedResult | undefined) => void = () => undefined;
  #failed: (error: Error) => void = () => undefined;
  #isEnded = false;

  constructor() {
    this.#child = fork(process.argv[1] ?? '', [SEED_PROCESS]);
    this.#child.on('message', (result) => this.#answered(result as SeedResult));
    this.#child.on('error', (error) => this.#fails(error.message));
    this.#child.on('exit', (code, signal) => this.#fails(`its process ended: ${signal ?? code}`));
  }

  /** Undefined: it was ended meanwhile. */
  async run(scenario: Scenario): Promise<SeedResult | undefined> {
    this.seed = scenario.seed;
    const limit = setTimeout(() => this.#fails('it takes more than a day'), SEED_LIMIT_MS);
    try {
      return await new Promise<SeedResult | undefined>((resolve, reject) => {
        this.#answered = resolve;
        this.#failed = reject;
        // Without a process it fails, too.
        this.#child.send(scenario, (error) => error && this.#fails(error.message));
      });
    } finally {
      clearTimeout(limit);
      this.seed = 0;
    }
  }

  end(): void {
    this.#isEnded = true;
    this.#child.kill('SIGKILL');
  }

  #fails(why: string): void {
    if (this.#isEnded) this.#answered(undefined);
    else this.#failed(new Error(`seed ${this.seed}: ${why}`));
  }
}
