/**
 * Checks the workflows of `.github/workflows` with actionlint, which is built from its Go module
 * first, once:
 *
 *   npm run lint:workflows
 *
 * Where neither Go nor what it built is there, it says so and passes.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { isGoInstalled } from './go-module.ts';
import { buildProgram, type GoProgram, isProgramBuilt, moduleFileFor } from './go-program.ts';

const MODULE = 'github.com/rhysd/actionlint';
const VERSION = 'v1.7.12';
const ROOT = join(import.meta.dirname, '..');
const LIMIT_MS = 120_000;

const ACTIONLINT: GoProgram = {
  name: 'actionlint',
  version: VERSION,
  main: { package: `${MODULE}/cmd/actionlint` },
  variables: {},
  moduleFile: () => moduleFileFor(MODULE, VERSION),
};

process.exitCode = await main();

async function main(): Promise<number> {
  if (!(isProgramBuilt(ACTIONLINT) || isGoInstalled())) {
    process.stdout.write('Go is not installed, so workflows are not checked.\n');
    return 0;
  }
  const directory = await buildProgram(ACTIONLINT, (text) => process.stdout.write(`${text}\n`));
  // Linters of shell and Python would make the result depend on the machine.
  const args = ['-shellcheck=', '-pyflakes='];
  const { status, error } = spawnSync(join(directory, ACTIONLINT.name), args, {
    cwd: ROOT,
    stdio: 'inherit',
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  if (error !== undefined) process.stderr.write(`workflows: ${error.message}\n`);
  return status ?? 1;
}
