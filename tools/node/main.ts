/**
 * Runs a command beside a real node: kubelet, container runtime and network, with a control plane.
 *
 *   tsx tools/node/main.ts [--nodes 1] [--upstream] [--last-version] [--keep] -- COMMAND...
 *
 * The command finds an administrator's kubeconfig in `KUBECONFIG`, and the directory of the run in
 * `LOCKSTEP_TEST_NODE`. The images of Lockstep are on the node. Where no node can run, it says why,
 * runs nothing and passes. All that it starts has namespaces and a control group of its own, and is
 * gone at the end, also after Ctrl-C. `--keep` leaves the logs. With `--upstream` it builds the controller
 * and the agent of kubernetes-sigs/jobset too: the agent's image is on the node, and
 * `LOCKSTEP_TEST_NEIGHBOURS` has the directory of each program as JSON. With `--last-version` it builds
 * the last version of Lockstep, whose directory is in `LOCKSTEP_TEST_LAST_VERSION`. Exit code: the
 * command's; 1 if no node came up; 2 for wrong usage.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildControlPlane, isBuilt, KUBERNETES_VERSIONS } from '../control-plane/build.ts';
import { areNeighboursBuilt, buildNeighbours, JOBSET_PROGRAMS } from '../neighbours/programs.ts';
import { hierarchies, makeCgroup, removeCgroup } from './cgroups.ts';
import { writeNodeImages } from './images.ts';
import { buildLastVersion } from './last-version.ts';
import { MAX_NODES, nodeName } from './network.ts';
import { NAMESPACES, whyNoNode } from './probe.ts';
import { areNodeProgramsBuilt, buildNodePrograms } from './programs.ts';

const EXIT_USAGE = 2;
const EXIT_FAILURE = 1;
/** A run's name, of its control group and its directory, ends with the number of its process. */
const RUN = /^lockstep-node-(\d+)$/;
/** For a cluster that is told to end: it has nothing to finish. */
const STOP_GRACE_MS = 5_000;
/**
 * Mounts of Pods spread as on any node. Fixed places of programs lie in the directory of the run. The
 * shell stays as the first process, because it collects what others leave behind.
 */
const SET_UP =
  'mount --make-rshared / && mount -t tmpfs tmpfs /run && mount --bind "$0" /var/log && "$@"; exit $?';

process.exitCode = await main();

async function main(): Promise<number> {
  const options = parseOptions();
  if ('problem' in options) {
    report(options.problem);
    return EXIT_USAGE;
  }
  const [version] = KUBERNETES_VERSIONS;
  const neighbours = options.hasUpstream ? JOBSET_PROGRAMS : [];
  const isAllBuilt = isBuilt(version) && areNodeProgramsBuilt() && areNeighboursBuilt(neighbours);
  const missing = await whyNoNode(isAllBuilt);
  if (missing !== undefined) {
    report(`skipped: no node can run here, because ${missing}`);
    return 0;
  }
  const binaries = await buildControlPlane(version, report);
  const programs = await buildNodePrograms(report);
  const directories = await buildNeighbours(report, neighbours);
  if (options.hasUpstream) process.env['LOCKSTEP_TEST_NEIGHBOURS'] = JSON.stringify(directories);
  if (options.hasLastVersion) {
    const lastVersion = await buildLastVersion(report);
    if (lastVersion !== undefined) process.env['LOCKSTEP_TEST_LAST_VERSION'] = lastVersion;
  }
  await removeDeadRuns();
  const name = `lockstep-node-${process.pid}`;
  const directory = join(tmpdir(), name);
  try {
    const bin = join(directory, 'bin');
    mkdirSync(bin, { recursive: true, mode: 0o755 });
    mkdirSync(join(directory, 'log'));
    for (const [program, path] of [...Object.entries(binaries), ...programs]) {
      symlinkSync(path, join(bin, program));
    }
    const agent = directories['jobset-agent'];
    const upstreamAgent = agent === undefined ? undefined : join(agent, 'jobset-agent');
    await writeNodeImages(join(directory, 'images'), programs, upstreamAgent);
    makeCgroup(
      name,
      Array.from({ length: options.nodes }, (_, index) => nodeName(index)),
    );
    return await runInside(directory, name, options);
  } finally {
    await removeRun(name, options.isKept);
    if (options.isKept) report(`logs are in ${directory}`);
  }
}

interface Options {
  readonly nodes: number;
  readonly hasUpstream: boolean;
  readonly hasLastVersion: boolean;
  readonly isKept: boolean;
  readonly command: readonly string[];
}

function parseOptions(): Options | { readonly problem: string } {
  try {
    const { values, positionals } = parseArgs({
      options: {
        nodes: { type: 'string', default: '1' },
        upstream: { type: 'boolean', default: false },
        'last-version': { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    });
    const nodes = Number(values.nodes);
    if (!Number.isInteger(nodes) || nodes < 1 || nodes > MAX_NODES) {
      return { problem: `--nodes: "${values.nodes}", expected a number from 1 to ${MAX_NODES}` };
    }
    if (positionals.length === 0) return { problem: 'a command is expected after --' };
    const { upstream: hasUpstream, 'last-version': hasLastVersion, keep: isKept } = values;
    return { nodes, hasUpstream, hasLastVersion, isKept, command: positionals };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Resolves when the command and everything beside it have ended. */
function runInside(directory: string, cgroup: string, options: Options): Promise<number> {
  const inside = fileURLToPath(new URL('inside.ts', import.meta.url));
  const self = [
    process.execPath,
    ...process.execArgv,
    inside,
    directory,
    cgroup,
    `${options.nodes}`,
  ];
  const [program, ...namespaces] = NAMESPACES;
  const child = spawn(
    program,
    [...namespaces, 'sh', '-c', SET_UP, join(directory, 'log'), ...self, '--', ...options.command],
    // The last one stays open as long as this process lives.
    { stdio: ['inherit', 'inherit', 'inherit', 'pipe'] },
  );
  // The terminal sends it to the command too, and we end when that does.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => stop(child));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? EXIT_FAILURE));
  });
}

function stop(child: ChildProcess): void {
  child.stdio[3]?.destroy();
  setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS).unref();
}

/** What a killed run has left behind. Its processes and mounts have ended with it. */
async function removeDeadRuns(): Promise<void> {
  const names = [tmpdir(), ...hierarchies()].flatMap((place) => readdirSync(place));
  for (const name of new Set(names)) {
    const pid = RUN.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await removeRun(name, false);
  }
}

async function removeRun(name: string, isKept: boolean): Promise<void> {
  await removeCgroup(name);
  const directory = join(tmpdir(), name);
  const heavy = ['bin', 'images', 'control-plane/etcd'].map((part) => join(directory, part));
  const removed = isKept ? heavy : [directory];
  for (const path of removed) rmSync(path, { recursive: true, force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function report(message: string): void {
  process.stderr.write(`node: ${message}\n`);
}
