/**
 * The newest Node of an even, long-term line that the npm registry has for Linux on x64 and arm64.
 * Images carry it, and `.ci/run` runs the unit tests on it, beside the least version of `engines`.
 * It is fetched once, checked against its digest, and kept in the user's cache.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDirectory } from './cache-directory.ts';

export const NODE_VERSION = '26.10.0';

/** `npm view node-PLATFORM@VERSION dist.integrity`; a new version is a change of these three lines. */
const PACKAGE_DIGESTS: Readonly<Record<string, string>> = {
  'linux-x64':
    'OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  'linux-arm64':
    'idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
};

const FETCH_TIMEOUT_MS = 180_000;

/** Why the pinned Node cannot be had here. */
export class NodeReleaseError extends Error {
  override readonly name = 'NodeReleaseError';
}

/** Whether a Node is pinned for this machine. */
export function hasPinnedNode(): boolean {
  return platform() in PACKAGE_DIGESTS;
}

/** The path of the pinned Node's binary for a platform, this one by default. Throws `NodeReleaseError`. */
export function pinnedNode(wanted: string = platform()): string {
  const digest = PACKAGE_DIGESTS[wanted];
  if (digest === undefined) {
    const pinned = Object.keys(PACKAGE_DIGESTS).join(' and ');
    throw new NodeReleaseError(`Node ${NODE_VERSION} is for ${pinned}, not for ${wanted}`);
  }
  const name = `node-${wanted}`;
  const target = join(cacheDirectory(), `${name}-${NODE_VERSION}`);
  const program = join(target, 'bin', 'node');
  if (existsSync(program)) return program;
  mkdirSync(cacheDirectory(), { recursive: true });
  const directory = mkdtempSync(join(cacheDirectory(), 'fetch-'));
  try {
    run('npm', ['pack', '--silent', '--pack-destination', directory, `${name}@${NODE_VERSION}`]);
    const archive = join(directory, `${name}-${NODE_VERSION}.tgz`);
    expectDigest(archive, readFileSync(archive), digest);
    run('tar', ['-xzf', archive, '-C', directory, 'package/bin/node']);
    // Whole or not at all; another process may have been quicker.
    if (!existsSync(target)) renameSync(join(directory, 'package'), target);
    return program;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** `digest`: SHA-512 in base64. Throws `NodeReleaseError`. */
export function expectDigest(name: string, content: Uint8Array, digest: string): void {
  const found = createHash('sha512').update(content).digest('base64');
  if (found === digest) return;
  throw new NodeReleaseError(`${name} has the digest sha512-${found}, expected sha512-${digest}`);
}

function platform(): string {
  return `${process.platform}-${process.arch}`;
}

function run(program: string, args: readonly string[]): void {
  try {
    execFileSync(program, args, {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: FETCH_TIMEOUT_MS,
    });
  } catch (error) {
    const why = error instanceof Error ? error.message.trim() : String(error);
    throw new NodeReleaseError(`Node ${NODE_VERSION} cannot be fetched: ${why}`, { cause: error });
  }
}
