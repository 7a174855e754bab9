/**
 * Runs a command with real Kubernetes control planes beside it:
 *
 *   tsx tools/control-plane/main.ts [--version 1.36.3] [--copies 1] [--own-network] [--helm] [--neighbours]
 *     [--keep] -- COMMAND...
 *
 * The command finds the directory of each in `LOCKSTEP_TEST_CONTROL_PLANES`, joined like `PATH`.
 * `LOCKSTEP_TEST_KUBECONFIG` and `KUBECONFIG` name an administrator's kubeconfig of the first; the
 * others' lie in their directories. If nothing is built and Go is not installed, it runs nothing
 * and says so. With `--own-network` they share a network of their own, if the machine allows it,
 * and `LOCKSTEP_TEST_ADDRESS` is an address in it. With `--helm` it builds Helm too, and
 * `LOCKSTEP_TEST_HELM` is its path. With `--neighbours` it builds controllers of other projects, and
 * `LOCKSTEP_TEST_NEIGHBOURS` has their directories as JSON. Exit code: the command's; 2 for wrong usage.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { exitCodeOf } from '../exit-code.ts';
import { isGoInstalled } from '../go-module.ts';
import { buildHelm, isHelmBuilt } from '../helm/program.ts';
import { areNeighboursBuilt, buildNeighbours } from '../neighbours/programs.ts';
import {
  ALPHA_APIS,
  buildControlPlane,
  FEATURE_GATES,
  isBuilt,
  KUBERNETES_VERSIONS,
} from './build.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { inOwnNetwork, SERVICE_ADDRESS } from './own-network.ts';

const EXIT_USAGE = 2;
const MAX_COPIES = 8;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      version: { type: 'string', default: KUBERNETES_VERSIONS[0] },
      copies: { type: 'string', default: '1' },
      'own-network': { type: 'boolean', default: false },
      helm: { type: 'boolean', default: false },
      neighbours: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const version = KUBERNETES_VERSIONS.find((known) => known === values.version);
  if (version === undefined) {
    report(`--version: "${values.version}", expected one of ${KUBERNETES_VERSIONS.join(', ')}`);
    return EXIT_USAGE;
  }
  const copies = Number(values.copies);
  if (!Number.isInteger(copies) || copies < 1 || copies > MAX_COPIES) {
    report(`--copies: "${values.copies}", expected a number from 1 to ${MAX_COPIES}`);
    return EXIT_USAGE;
  }
  const [program, ...args] = positionals;
  if (program === undefined) {
    report('a command is expected after --');
    return EXIT_USAGE;
  }
  const isAllBuilt = isBuilt(version) && (!values.neighbours || areNeighboursBuilt());
  if (!isAllBuilt && !isGoInstalled()) {
    report('skipped: Go is not installed, so there is no Kubernetes to test with');
    return 0;
  }
  const binaries = await buildControlPlane(version, report);
  const helm = values.helm ? await helmIfPossible() : {};
  const neighbours = values.neighbours
    ? { LOCKSTEP_TEST_NEIGHBOURS: JSON.stringify(await buildNeighbours(report)) }
    : {};
  // Builds needed the network of the machine, so they come first.
  if (values['own-network'] && process.env['LOCKSTEP_TEST_ADDRESS'] === undefined) {
    const again = inOwnNetwork([process.execPath, ...process.execArgv, ...process.argv.slice(1)]);
    if (again !== undefined) {
      const [self = '', ...rest] = again;
      return await exitCodeOf(self, rest, { LOCKSTEP_TEST_ADDRESS: SERVICE_ADDRESS });
    }
    report('there are no network namespaces; the network of the machine it is');
  }
  const parent = mkdtempSync(join(tmpdir(), 'lockstep-control-plane-'));
  const directories = Array.from({ length: copies }, (_, index) => join(parent, `${index}`));
  const running: ControlPlane[] = [];
  try {
    for (const directory of directories) {
      const gates = FEATURE_GATES[version];
      running.push(await startControlPlane(binaries, directory, gates, ALPHA_APIS[version]));
    }
    const kubeconfig = running[0]?.kubeconfig ?? '';
    report(`Kubernetes ${version} runs, ${copies} times; KUBECONFIG=${kubeconfig}`);
    return await exitCodeOf(program, args, {
      KUBECONFIG: kubeconfig,
      LOCKSTEP_TEST_KUBECONFIG: kubeconfig,
      LOCKSTEP_TEST_KUBERNETES_VERSION: version,
      LOCKSTEP_TEST_CONTROL_PLANES: directories.join(delimiter),
      ...helm,
      ...neighbours,
    });
  } finally {
    await Promise.all(running.map((controlPlane) => controlPlane.stop()));
    if (values.keep) report(`logs are in ${parent}`);
    else rmSync(parent, { recursive: true, force: true });
  }
}

async function helmIfPossible(): Promise<Readonly<Record<string, string>>> {
  if (isHelmBuilt() || isGoInstalled()) return { LOCKSTEP_TEST_HELM: await buildHelm(report) };
  report('Go is not installed, so there is no Helm to test with');
  return {};
}

function report(message: string): void {
  process.stderr.write(`${message}\n`);
}
