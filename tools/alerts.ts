/**
 * Evaluates the alerts about runs with Prometheus' own engine, which is built first, once:
 *
 *   npm run test:alerts
 *
 * Where neither Go nor what it built is there, it says so and passes.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { isGoInstalled } from './go-module.ts';
import { buildPromtool, isPromtoolBuilt } from './promtool.ts';

const ROOT = join(import.meta.dirname, '..');
const LIMIT_MS = 600_000;

process.exitCode = await main();

async function main(): Promise<number> {
  if (!(isPromtoolBuilt() || isGoInstalled())) {
    process.stdout.write('Go is not installed, so alerts are not evaluated.\n');
    return 0;
  }
  await buildPromtool((message) => process.stdout.write(`${message}\n`));
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--project', 'process', 'src/deploy/run-alerts.process.test.ts'];
  const { status } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    stdio: 'inherit',
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  return status ?? 1;
}
