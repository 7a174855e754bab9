/**
 * Runs the simulator from a bundle, which is a quarter faster than its sources: `npm run simulate -- --help`
 * shows its flags. With `--planted` it plants each bug of `src/simulator/planted/` in a bundle of its own, and
 * looks whether the simulator finds it:
 *
 *   npm run simulate -- --planted [--only TEXT] [--seeds N]
 *
 * It runs what is known to find the bug, which is one seed, scenario, change or disturbance; with `--seeds`, the seeds
 * from 1 to N. It prints what found the bug and what it violates, as rows of a table. Exit codes: 0 all were found, 1 one
 * was not, 2 wrong usage.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build, type Plugin } from 'esbuild';
import { readArguments } from '../src/simulator/adapters/arguments.ts';
import { PLANTED } from '../src/simulator/planted/planted.ts';
import type { PlantedBug } from '../src/simulator/planted/planted-bug.ts';
import { SIMULATOR_BUNDLE } from './bundles.ts';
import { exitCodeOf, SIGNAL_CODES } from './exit-code.ts';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const EXIT_HELD = 0;
const EXIT_VIOLATED = 1;
const EXIT_USAGE = 2;
/** For all seeds of one bug. */
const TIMEOUT_MS = 8 * 60 * 60_000;

/** A signal ends all simulators, and leaves no bundle behind. */
const stopped = new AbortController();

const args = process.argv.slice(2);
process.exitCode = args.includes('--planted')
  ? await plantAll(args)
  : await inBundle([], (program) => exitCodeOf(process.execPath, [program, ...args], {}));

async function plantAll(args: string[]): Promise<number> {
  let bugs: readonly PlantedBug[];
  let seeds: string | undefined;
  try {
    const { values } = parseArgs({
      args,
      options: {
        planted: { type: 'boolean' },
        only: { type: 'string', default: '' },
        seeds: { type: 'string' },
      },
    });
    bugs = PLANTED.filter(({ name }) => name.includes(values.only));
    ({ seeds } = values);
    if (seeds !== undefined) readArguments(['--seeds', seeds]);
    if (bugs.length === 0) throw new Error(`--only: no bug has "${values.only}" in its name`);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    return EXIT_USAGE;
  }
  const processors = availableParallelism();
  const jobs = Math.max(1, Math.floor(processors / bugs.length));
  const left = bugs.entries();
  const rows: (string | undefined)[] = [];
  let shown = 0;
  let missed = 0;
  const plant = async (): Promise<void> => {
    for (const [index, bug] of left) {
      const found = await findIn(bug, seeds, jobs);
      if (found === undefined) missed++;
      rows[index] = `| ${bug.name} | ${found ?? 'not found | '} |\n`;
      for (let row = rows[shown]; row !== undefined; row = rows[++shown]) process.stdout.write(row);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stopped.abort(SIGNAL_CODES + constants.signals[signal]));
  }
  try {
    await Promise.all(Array.from({ length: Math.min(processors, bugs.length) }, plant));
  } catch (error) {
    if (!stopped.signal.aborted) throw error;
    return stopped.signal.reason as number;
  }
  return missed === 0 ? 0 : 1;
}

/** What found the bug and what it violates; undefined: all holds in spite of it. */
function findIn(
  bug: PlantedBug,
  seeds: string | undefined,
  jobs: number,
): Promise<string | undefined> {
  const { name } = bug;
  return inBundle([planting(bug)], async (program, folder) => {
    const args = searchFor(bug, seeds, jobs, folder);
    const { code, output } = await outputOf([program, ...args]);
    if (code === EXIT_HELD) return undefined;
    const found = /^seed (\d+) violates "([^"]+)"/m.exec(output);
    if (code === EXIT_VIOLATED && found !== null) return `${found[1]} | ${found[2]}`;
    const different = /^ {2}(.+)\n {2}(.+)$/m.exec(output);
    if (code === EXIT_VIOLATED && different !== null) return `${different[1]} | ${different[2]}`;
    throw new Error(`${name}: the simulator ended with ${code}: ${output}`);
  });
}

/** Arguments of the simulator: what is known to find the bug, or these seeds. The folder is for files. */
function searchFor(
  { seed, faults, scenario, systematic }: PlantedBug,
  seeds: string | undefined,
  jobs: number,
  folder: string,
): readonly string[] {
  if (seeds === undefined && systematic !== undefined) return systematic;
  if (seeds === undefined && scenario !== undefined) {
    const file = join(folder, 'scenario.json');
    writeFileSync(file, JSON.stringify(scenario));
    return ['--scenario', file, '--no-shrink'];
  }
  const among = faults === undefined ? [] : ['--faults', faults];
  return ['--seeds', seeds ?? `${seed}-${seed}`, '--jobs', `${jobs}`, '--no-shrink', ...among];
}

async function inBundle<T>(
  plugins: Plugin[],
  run: (program: string, folder: string) => Promise<T>,
): Promise<T> {
  // Here it finds the packages that are no part of it.
  const outdir = mkdtempSync(join(ROOT, 'node_modules', '.simulator-'));
  try {
    await build({ ...SIMULATOR_BUNDLE, absWorkingDir: ROOT, outdir, plugins });
    return await run(join(outdir, 'simulator.js'), outdir);
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

/** The exit code is null if the process was ended by a signal. */
function outputOf(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: TIMEOUT_MS,
    signal: stopped.signal,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

/** Gives the bundler the bug's file with the bug in it. */
function planting({ name, file, find, replace }: PlantedBug): Plugin {
  return {
    name: 'planted-bug',
    setup: ({ onLoad }) => {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (path !== join(ROOT, file)) return undefined;
        const text = readFileSync(path, 'utf8');
        if (text.split(find).length !== 2) throw new Error(`${name}: ${path} has not one ${find}`);
        return { contents: text.replace(find, () => replace), loader: 'ts' };
      });
    },
  };
}
