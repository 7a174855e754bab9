/** The real node under test, and what tests do to it: `tools/node/main.ts` starts both. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { connectClient } from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { PORTS } from '../../src/cli/ports.ts';
import { socketOf } from '../../tools/node/configuration.ts';
import { type LastVersion, lastVersionIn } from '../../tools/node/last-version.ts';
import { OUTSIDE } from '../../tools/node/network.ts';
import { KUBERNETES, NODE_RUN } from '../kubernetes.ts';

const run = promisify(execFile);

/** The directory of the run. */
export const RUN: string = NODE_RUN ?? '';
export const KUBECONFIG: string = KUBERNETES ?? '';
/** Tests run there. It enforces the Pod security level `restricted`. */
export const NAMESPACE = 'trainers';

const COMMAND_TIMEOUT_MS = 180_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
export const LOCKSTEP: string = fileURLToPath(new URL('../../bin/lockstep.js', import.meta.url));

export async function connectAdministrator(): Promise<{ client: Client; close: () => void }> {
  const access = await loadKubeconfig({ path: KUBECONFIG, env: {}, homeDirectory: '/' });
  return connectClient(access, { ...PORTS, userAgent: 'test' });
}

/** What the command prints. Rejects with its output if it fails. */
export async function lockstep(...args: readonly string[]): Promise<string> {
  return await output([process.execPath, LOCKSTEP, ...args]);
}

/** Runs it outside of the cluster's network, from where only the API server can be reached. */
export async function lockstepFromOutside(...args: readonly string[]): Promise<string> {
  return await output([...FROM_OUTSIDE, process.execPath, LOCKSTEP, ...args]);
}

/** Whether the last version could be built: a checkout without history has none. */
export const HAS_LAST_VERSION: boolean = 'LOCKSTEP_TEST_LAST_VERSION' in process.env;

/** The last version of Lockstep, and its command line. */
export function lastVersion(): LastVersion {
  const directory = process.env['LOCKSTEP_TEST_LAST_VERSION'];
  if (directory === undefined) throw new Error('give --last-version to tools/node/main.ts');
  return lastVersionIn(directory);
}

export async function lastVersionLockstep(...args: readonly string[]): Promise<string> {
  return await output([process.execPath, lastVersion().lockstep, ...args]);
}

export const FROM_OUTSIDE: readonly [string, string] = ['nsenter', `--net=${OUTSIDE}`];

async function output([program = '', ...args]: readonly string[]): Promise<string> {
  const { stdout } = await run(program, args, {
    timeout: COMMAND_TIMEOUT_MS,
    maxBuffer: MAX_OUTPUT_BYTES,
    env: { ...process.env, KUBECONFIG },
  });
  return stdout;
}

/** Makes an image of an archive known to a node. */
export async function importImage(node: string, archive: string): Promise<void> {
  const address = ['--address', socketOf(join(RUN, node)), '--namespace', 'k8s.io'];
  await output(['ctr', ...address, 'images', 'import', archive]);
}

export type NodeProgram = 'kubelet' | 'containerd';

/**
 * Sends a signal to a program of a node. A killed program is started again, as a service manager
 * would do it.
 */
export function signalProgram(node: string, name: NodeProgram, signal: NodeJS.Signals): void {
  process.kill(programId(node, name), signal);
}

/** False between its death and its next start. */
export function doesProgramRun(node: string, name: NodeProgram): boolean {
  try {
    return process.kill(programId(node, name), 0);
  } catch {
    return false;
  }
}

function programId(node: string, name: NodeProgram): number {
  return Number(readFileSync(join(RUN, node, `${name}.pid`), 'utf8'));
}

/** Where the container runtime keeps the log files of a Pod's container. */
export function logDirectory(pod: Stored<Pod>, container: string): string {
  const { namespace, name, uid } = pod.metadata;
  return join(RUN, pod.spec?.nodeName ?? '', 'pods', `${namespace}_${name}_${uid}`, container);
}

export interface MachineProcess {
  /** On this machine. */
  readonly pid: number;
  readonly command: readonly string[];
  readonly environment: readonly string[];
}

/** The processes with a variable, such as `WORKER_OF=train-w-0-1-x7k2p`, the oldest first. */
export function processesWith(variable: string): readonly MachineProcess[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0)
    .flatMap((pid) => {
      const environment = stringsOf(`/proc/${pid}/environ`);
      if (!environment.includes(variable)) return [];
      const found = { pid, command: stringsOf(`/proc/${pid}/cmdline`), environment };
      return [{ ...found, ticks: startTicks(pid) }];
    })
    .toSorted((a, b) => a.ticks - b.ticks || a.pid - b.pid);
}

/** `starttime`, counted from the state of the process. */
const START_FIELD = 19;

/** When a process started, in ticks of the kernel's clock. Numbers of processes begin again at some point. */
function startTicks(pid: number): number {
  const [stat = ''] = stringsOf(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[START_FIELD]);
}

/** None if the process has ended. */
function stringsOf(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\0');
  } catch {
    return [];
  }
}
