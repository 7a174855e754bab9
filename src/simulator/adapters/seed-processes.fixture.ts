/** A program that runs seeds which only play the part of a run: `FIRST LAST JOBS DIRECTORY`. */
import { once } from 'node:events';
import { existsSync, watch, writeFileSync } from 'node:fs';
import { runInProcesses, SEED_PROCESS, type SeedResult, serveSeeds } from './seed-processes.ts';

/** What happens in which seed; in others all holds. */
export const QUICK_VIOLATION = 5;
/** It is over once the other one is. */
export const SLOW_VIOLATION = 3;
export const ENDLESS = 6;
export const DIES = 7;
const EXIT_DIED = 3;

const [first = '', last = '', jobs = '', directory = process.env['DIRECTORY'] ?? ''] =
  process.argv.slice(2);

if (first === SEED_PROCESS) serveSeeds(({ seed }) => play(seed));
else if (first !== '') await main();

async function main(): Promise<void> {
  process.env['DIRECTORY'] = directory;
  const epochs: number[] = [];
  try {
    const lowest = await runInProcesses(
      { first: Number(first), last: Number(last) },
      {
        jobs: Number(jobs),
        scenarioOf: (seed) => ({ seed }) as never,
        held: (result) => epochs.push(result.epochs),
      },
    );
    const held = epochs.toSorted((a, b) => a - b).join(' ');
    process.stdout.write(`held ${held}, lowest ${lowest ?? 'none'}\n`);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = EXIT_DIED;
  }
}

async function play(seed: number): Promise<SeedResult> {
  const held = { simulatedMs: 1, epochs: seed, violation: undefined };
  const violation = { property: 'Nothing throws', detail: '' } as const;
  const mark = `${process.env['DIRECTORY']}/over`;
  if (seed === ENDLESS) {
    process.stdout.write('endless\n');
    await new Promise(() => undefined);
  }
  if (seed === DIES) process.kill(process.pid, 'SIGKILL');
  if (seed === QUICK_VIOLATION) writeFileSync(mark, '');
  if (seed === SLOW_VIOLATION) {
    const changes = watch(process.env['DIRECTORY'] ?? '');
    if (!existsSync(mark)) await once(changes, 'change');
    changes.close();
  }
  return seed === QUICK_VIOLATION || seed === SLOW_VIOLATION ? { ...held, violation } : held;
}
