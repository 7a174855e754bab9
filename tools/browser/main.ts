/**
 * Runs the tests in a real browser, `test/browser/`:
 *
 *   npm run test:browser [-- VITEST-ARGUMENT...]
 *
 * It installs the browser first, where this machine has none (`chromium.ts`). Where it cannot have
 * one, it says why, and leaves out the tests. Exit code: the tests'; 1 if the installation fails.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { InstallationError } from '../debian-packages.ts';
import { installedChromium } from './chromium.ts';

const ROOT = join(import.meta.dirname, '../..');
/** For all tests; most of it they wait for groups that restart. */
const LIMIT_MS = 900_000;

process.exitCode = main(process.argv.slice(2));

function main(args: readonly string[]): number {
  try {
    const found = installedChromium();
    if ('missing' in found) {
      report(`skipped: no test runs in a browser, because ${found.missing}`);
      return 0;
    }
    report(`Chromium: ${found.chromium}`);
    return runTests(args, found.chromium);
  } catch (error) {
    if (!(error instanceof InstallationError)) throw error;
    report(error.message);
    return 1;
  }
}

function runTests(args: readonly string[], chromium: string): number {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const { status, error } = spawnSync(
    process.execPath,
    [vitest, 'run', '--project', 'browser', ...args],
    {
      cwd: ROOT,
      stdio: 'inherit',
      timeout: LIMIT_MS,
      killSignal: 'SIGTERM',
      env: { ...process.env, LOCKSTEP_TEST_CHROMIUM: chromium },
    },
  );
  if (error !== undefined) report(error.message);
  return status ?? 1;
}

function report(text: string): void {
  process.stdout.write(`browser tests: ${text}\n`);
}
