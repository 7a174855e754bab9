/**
 * Runs a command with a real Kubernetes control plane beside it:
 *
 *   tsx tools/control-plane/main.ts [--version 1.36.3] [--keep] -- COMMAND...
 *   tsx tools/control-plane/main.ts [--version 1.36.3] --check
 *
 * The command finds the path of an administrator's kubeconfig in `LOCKSTEP_TEST_KUBECONFIG` and
 * `KUBECONFIG`, and the control plane's directory in `LOCKSTEP_TEST_CONTROL_PLANE`. Where nothing is
 * built and Go is not installed, nothing is run, which is said. `--check` only says whether it could
 * start at once. Exit code: the command's; 2 wrong usage; 3 it would have to be built first.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildControlPlane, isBuilt, isGoInstalled, KUBERNETES_VERSIONS } from './build.ts';
import { startControlPlane } from './control-plane.ts';

const EXIT_USAGE = 2;
const EXIT_NOT_BUILT = 3;
const SIGNAL_CODES = 128;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      version: { type: 'string', default: KUBERNETES_VERSIONS[0] },
      keep: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const { version } = values;
  if (!KUBERNETES_VERSIONS.some((known) => known === version)) {
    report(`--version: "${version}", expected one of ${KUBERNETES_VERSIONS.join(', ')}`);
    return EXIT_USAGE;
  }
  if (values.check) {
    if (isBuilt(version)) return 0;
    report(`Kubernetes ${version} is not built here`);
    return EXIT_NOT_BUILT;
  }
  const [program, ...args] = positionals;
  if (program === undefined) {
    report('a command is expected after --');
    return EXIT_USAGE;
  }
  if (!isBuilt(version) && !isGoInstalled()) {
    report('skipped: Go is not installed, so there is no Kubernetes to test with');
    return 0;
  }
  const binaries = await buildControlPlane(version, report);
  const directory = mkdtempSync(join(tmpdir(), 'lockstep-control-plane-'));
  const controlPlane = await startControlPlane(binaries, directory);
  report(`Kubernetes ${version} runs; KUBECONFIG=${controlPlane.kubeconfig}`);
  try {
    return await exitCodeOf(program, args, {
      KUBECONFIG: controlPlane.kubeconfig,
      LOCKSTEP_TEST_KUBECONFIG: controlPlane.kubeconfig,
      LOCKSTEP_TEST_CONTROL_PLANE: directory,
    });
  } finally {
    await controlPlane.stop();
    if (values.keep) report(`logs are in ${directory}`);
    else rmSync(directory, { recursive: true, force: true });
  }
}

function exitCodeOf(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const child = spawn(program, args, {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  // The terminal sends it to the child too, whose end is ours.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      resolve(code ?? SIGNAL_CODES + (signal === null ? 0 : constants.signals[signal])),
    );
  });
}

function report(message: string): void {
  process.stderr.write(`${message}\n`);
}
