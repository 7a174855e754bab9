/**
 * Runs the suites of `test/` beside real control planes:
 *
 *   npm run test:kubernetes [-- [--version 1.35.4 | --all-versions] [VITEST-ARGUMENT...]]
 *
 * Without a version, it is the newest. With all, one comes after the other, the newest first. Exit code:
 * 0 if all passed, otherwise the first failed one's; 2 for wrong usage.
 */
import { join } from 'node:path';
import { exitCodeOf } from '../exit-code.ts';
import { isGoInstalled } from '../go-module.ts';
import { isBuilt, KUBERNETES_VERSIONS } from './build.ts';
import { chosenVersions, runOnEach } from './versions.ts';

const EXIT_USAGE = 2;
const CLUSTERS = ['--copies', '3', '--own-network', '--helm'];
const TESTS = ['vitest', 'run', '--project', 'kubernetes'];

const USAGE = `npm run test:kubernetes [-- [--version VERSION | --all-versions] [SUITE...]]

Runs the suites of test/ on real control planes, by default on the newest Kubernetes.
VERSION is one of ${KUBERNETES_VERSIONS.join(', ')}. Everything else goes to Vitest.`;

process.exitCode = await main();

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    report(USAGE);
    return 0;
  }
  const chosen = chosenVersions(args);
  if (typeof chosen === 'string') {
    report(chosen);
    return EXIT_USAGE;
  }
  const tool = [...process.execArgv, join(import.meta.dirname, 'main.ts')];
  return await runOnEach(
    chosen.versions,
    async (version) => {
      if (!isBuilt(version) && !isGoInstalled()) return 'Go, which builds it, is not installed';
      const args = ['--version', version, ...CLUSTERS, '--', ...TESTS, ...chosen.rest];
      return await exitCodeOf(process.execPath, [...tool, ...args], {});
    },
    report,
  );
}

function report(line: string): void {
  process.stderr.write(`${line}\n`);
}
