/**
 * Runs the tests with real frameworks, `test/frameworks/`:
 *
 *   npm run test:frameworks -- [--repeat 10] [-- VITEST-ARGUMENT...]
 *
 * It installs the frameworks first, once (`pythons.ts`). Where this machine cannot have one, it
 * says why, and leaves out its tests. Exit code: the tests'; 1 if an installation fails; 2 for
 * wrong usage.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  type Found,
  InstallationError,
  packagesForTorch,
  pythonWithJax,
  pythonWithTorch,
} from './pythons.ts';

const ROOT = join(import.meta.dirname, '../..');
const EXIT_USAGE = 2;
const MAX_REPEATS = 100;
/** For all tests once; most of it they wait for imports and for the time-out of a stopped worker. */
const LIMIT_MS = 1_200_000;

process.exitCode = main();

function main(): number {
  const parsed = parsedArguments();
  if (parsed instanceof Error) {
    report(`${parsed.message}. Arguments of vitest come after a second --`);
    return EXIT_USAGE;
  }
  const { values, positionals } = parsed;
  const repeats = Number(values.repeat);
  if (!Number.isInteger(repeats) || repeats < 1 || repeats > MAX_REPEATS) {
    report(`--repeat: "${values.repeat}", expected a number from 1 to ${MAX_REPEATS}`);
    return EXIT_USAGE;
  }
  try {
    const environment = {
      ...prepared('JAX', 'LOCKSTEP_TEST_JAX_PYTHON', pythonWithJax),
      ...prepared('PyTorch', 'LOCKSTEP_TEST_TORCH_PYTHON', pythonWithTorch),
      ...prepared('Lightning and Transformers', 'LOCKSTEP_TEST_TORCH_PACKAGES', packagesForTorch),
    };
    if (Object.keys(environment).length === 0) return 0;
    return runTests(positionals, repeats, environment);
  } catch (error) {
    if (!(error instanceof InstallationError)) throw error;
    report(error.message);
    return 1;
  }
}

function parsedArguments() {
  try {
    const options = { repeat: { type: 'string', default: '1' } } as const;
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function prepared(
  framework: string,
  variable: string,
  find: () => Found,
): Readonly<Record<string, string>> {
  const startedAt = performance.now();
  const found = find();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if ('missing' in found) {
    report(`skipped: no test of ${framework}, because ${found.missing}`);
    return {};
  }
  report(`${framework}: ${found.path}, after ${seconds} s`);
  return { [variable]: found.path };
}

function runTests(
  args: readonly string[],
  repeats: number,
  environment: Readonly<Record<string, string>>,
): number {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const { status, error } = spawnSync(
    process.execPath,
    [vitest, 'run', '--project', 'frameworks', ...args],
    {
      cwd: ROOT,
      stdio: 'inherit',
      timeout: LIMIT_MS * repeats,
      killSignal: 'SIGTERM',
      env: { ...process.env, ...environment, LOCKSTEP_TEST_FRAMEWORK_REPEATS: String(repeats) },
    },
  );
  if (error !== undefined) report(error.message);
  return status ?? 1;
}

function report(message: string): void {
  process.stderr.write(`frameworks: ${message}\n`);
}
