/**
 * Runs the unit tests on the newest Node that is supported (`node-release.ts`):
 *
 *   npm run test:newest-node [-- PATH...]
 *
 * Where no Node is pinned for the machine it says so and passes.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { hasPinnedNode, NODE_VERSION, NodeReleaseError, pinnedNode } from './node-release.ts';

const LIMIT_MS = 240_000;
const ROOT = join(import.meta.dirname, '..');

process.exitCode = main();

function main(): number {
  const machine = `${process.platform}-${process.arch}`;
  if (!hasPinnedNode()) {
    process.stdout.write(`No Node ${NODE_VERSION} for ${machine}: its unit tests are left out.\n`);
    return 0;
  }
  try {
    const node = pinnedNode();
    process.stdout.write(
      `Unit tests on Node ${versionOf(node)} (${machine}), beside ${process.version}\n`,
    );
    return runTests(node);
  } catch (error) {
    if (!(error instanceof NodeReleaseError)) throw error;
    process.stderr.write(`newest-node: ${error.message}\n`);
    return 1;
  }
}

/** What the binary says itself, so that the line in the log is no mere intention. */
function versionOf(node: string): string {
  return spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
}

function runTests(node: string): number {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--project', 'unit', ...process.argv.slice(2)];
  const { status, error } = spawnSync(node, args, {
    cwd: ROOT,
    stdio: 'inherit',
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  if (error !== undefined) process.stderr.write(`newest-node: ${error.message}\n`);
  return status ?? 1;
}
