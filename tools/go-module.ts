/** Go's own command: Kubernetes is published as Go modules, which it downloads, checks and keeps. */
import { execFile, spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { promisify } from 'node:util';

const run = promisify(execFile);

const TIMEOUT_MS = 1_800_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

export function isGoInstalled(): boolean {
  return spawnSync('go', ['version']).status === 0;
}

/** The output of `go mod download` for a module; `version` as Go writes it, such as `v1.36.3`. */
export interface GoModule {
  /** The path of its module file. */
  readonly GoMod: string;
  /** The directory of its sources, which is read-only. */
  readonly Dir: string;
}

/** Downloads the module unless Go has it already. Rejects with what Go says. */
export async function downloadGoModule(name: string, version: string): Promise<GoModule> {
  return JSON.parse(await go(homedir(), ['mod', 'download', '-json', `${name}@${version}`]));
}

/** The version under which the parts of Kubernetes `1.X.Y` are published as modules of their own. */
export function stagingVersion(kubernetes: string): string {
  return `v${kubernetes.replace(/^1\./, '0.')}`;
}

/** The output of a run of `go` in `directory`. */
export async function go(
  directory: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { stdout } = await run('go', args, {
    cwd: directory,
    // Checksums come from the public database, so none have to be kept here.
    env: { ...process.env, GOFLAGS: '-mod=mod', GOWORK: 'off', ...environment },
    timeout: TIMEOUT_MS,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  return stdout;
}
