/**
 * Runs a command with a real Kubernetes control plane beside it:
 *
 *   tsx tools/control-plane/main.ts [--version 1.36.3] [--keep] -- COMMAND...
 *
 * The command finds the path of an administrator's kubeconfig in `LOCKSTEP_TEST_KUBECONFIG` and
 * `KUBECONFIG`. Without Go nothing is run, which is said. Exit code: the command's; 2 wrong usage.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildControlPlane, isGoInstalled, KUBERNETES_VERSIONS } from './build.ts';
import { startControlPlane } from './control-plane.ts';

const EXIT_USAGE = 2;
const SIGNAL_CODES = 128;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      version: { type: 'string', default: KUBERNETES_VERSIONS[0] },
      keep: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const [program, ...args] = positionals;
  const isKnown = KUBERNETES_VERSIONS.some((version) => version === values.version);
  if (program === undefined || !isKnown) {
    const versions = KUBERNETES_VERSIONS.join(', ');
    report(
      program === undefined
        ? 'a command is expected after --'
        : `--version: "${values.version}", expected one of ${versions}`,
    );
    return EXIT_USAGE;
  }
  if (!isGoInstalled()) {
    report('skipped: Go is not installed, so there is no Kubernetes to test with');
    return 0;
  }
  const binaries = await buildControlPlane(values.version, report);
  const directory = mkdtempSync(join(tmpdir(), 'lockstep-control-plane-'));
  const controlPlane = await startControlPlane(binaries, directory);
  report(`Kubernetes ${values.version} runs; KUBECONFIG=${controlPlane.kubeconfig}`);
  try {
    return await exitCodeOf(program, args, controlPlane.kubeconfig);
  } finally {
    await controlPlane.stop();
    if (values.keep) report(`logs are in ${directory}`);
    else rmSync(directory, { recursive: true, force: true });
  }
}

function exitCodeOf(program: string, args: readonly string[], kubeconfig: string): Promise<number> {
  const env = { ...process.env, KUBECONFIG: kubeconfig, LOCKSTEP_TEST_KUBECONFIG: kubeconfig };
  const child = spawn(program, args, { stdio: 'inherit', env });
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
