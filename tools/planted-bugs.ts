/**
 * Plants each bug of `src/simulator/planted.ts` in a copy of the sources, and looks whether the
 * simulator finds it:
 *
 *   tsx tools/planted-bugs.ts [--seeds 10000] [--name PART]
 *
 * Prints after how many seeds each was found. Exit codes: 0 all were, 1 one was not, 2 wrong usage.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PLANTED, type PlantedBug } from '../src/simulator/planted.ts';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const COPIED = ['src', 'package.json', 'tsconfig.json'];
const EXIT_USAGE = 2;
const TIMEOUT_MS = 30 * 60_000;

process.exitCode = main();

function main(): number {
  const { values } = parseArgs({
    options: { seeds: { type: 'string', default: '10000' }, name: { type: 'string', default: '' } },
  });
  const bugs = PLANTED.filter(({ name }) => name.includes(values.name));
  if (bugs.length === 0) {
    process.stderr.write(`--name: "${values.name}", expected a part of the name of a bug\n`);
    return EXIT_USAGE;
  }
  let missed = 0;
  for (const bug of bugs) {
    const found = findIn(bug, values.seeds);
    if (found === undefined) missed++;
    process.stdout.write(`| ${bug.name} | ${found ?? 'not found'} |\n`);
  }
  return missed === 0 ? 0 : 1;
}

/** What the simulator said first about the bug; undefined: it found nothing. */
function findIn(bug: PlantedBug, seeds: string): string | undefined {
  const copy = mkdtempSync(join(tmpdir(), 'lockstep-planted-'));
  try {
    for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    plant(bug, join(copy, bug.file));
    const args = ['src/simulator/main.ts', '--seeds', seeds, '--no-shrink'];
    const tsx = join(ROOT, 'node_modules/.bin/tsx');
    const { stdout } = spawnSync(tsx, args, { cwd: copy, encoding: 'utf8', timeout: TIMEOUT_MS });
    return /^seed (\d+) violates ("[^"]+")/m.exec(stdout)?.slice(1).join(' | ');
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function plant({ name, find, replace }: PlantedBug, path: string): void {
  const text = readFileSync(path, 'utf8');
  if (text.split(find).length !== 2) throw new Error(`${name}: ${path} has not one ${find}`);
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
}
