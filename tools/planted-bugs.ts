/**
 * Plants each bug of `src/simulator/planted.ts` in a bundle of the simulator, and looks whether the
 * simulator finds it:
 *
 *   tsx tools/planted-bugs.ts [--name PART] [--seeds N]
 *
 * It runs the one seed that is known to find the bug, or the seeds from 1 to N: with `--seeds`, or if none is
 * known. It prints which of them found the bug and what it violates. Exit codes: 0 all were found, 1 one was not, 2 wrong usage.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build, type Plugin } from 'esbuild';
import { PLANTED, type PlantedBug } from '../src/simulator/planted.ts';
import { SIMULATOR_BUNDLE } from './bundles.ts';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const EXIT_HELD = 0;
const EXIT_VIOLATED = 1;
const EXIT_USAGE = 2;
const DEFAULT_SEEDS = '1000';
/** For all seeds of one bug. */
const TIMEOUT_MS = 60 * 60_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

process.exitCode = await main();

async function main(): Promise<number> {
  let chosen: readonly PlantedBug[];
  let seeds: string | undefined;
  try {
    const { values } = parseArgs({
      options: { name: { type: 'string', default: '' }, seeds: { type: 'string' } },
    });
    chosen = PLANTED.filter(({ name }) => name.includes(values.name));
    ({ seeds } = values);
    if (chosen.length === 0) throw new Error(`--name: no bug has "${values.name}" in its name`);
    if (seeds !== undefined && !/^[1-9][0-9]{0,6}$/.test(seeds)) {
      throw new Error(`--seeds: "${seeds}", expected a whole number from 1 to 9999999`);
    }
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    return EXIT_USAGE;
  }
  let missed = 0;
  for (const bug of chosen) {
    const { seed, faults } = bug;
    const known = seeds === undefined && seed !== undefined ? ['--seed', `${seed}`] : undefined;
    const which = known ?? ['--seeds', seeds ?? DEFAULT_SEEDS];
    const found = await findIn(bug, faults === undefined ? which : [...which, '--faults', faults]);
    if (found === undefined) missed++;
    process.stdout.write(`| ${bug.name} | ${found ?? 'not found'} |\n`);
  }
  return missed === 0 ? 0 : 1;
}

/** The seed and what it violates; undefined: all seeds hold in spite of the bug. */
async function findIn(bug: PlantedBug, which: readonly string[]): Promise<string | undefined> {
  // Here it finds the packages that are no part of it.
  const outdir = mkdtempSync(join(ROOT, 'node_modules', '.planted-'));
  try {
    await build({ ...SIMULATOR_BUNDLE, absWorkingDir: ROOT, outdir, plugins: [planting(bug)] });
    const { status, stdout, stderr, error } = spawnSync(
      process.execPath,
      [join(outdir, 'simulator.js'), ...which, '--no-shrink'],
      { encoding: 'utf8', timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES },
    );
    if (status === EXIT_HELD) return undefined;
    const found = /^seed (\d+) violates "([^"]+)"/m.exec(stdout);
    if (status === EXIT_VIOLATED && found !== null) return `seed ${found[1]} | ${found[2]}`;
    throw new Error(`${bug.name}: the simulator ended with ${status}: ${error?.message ?? stderr}`);
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
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
