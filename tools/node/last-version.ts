/**
 * The last version of Lockstep, to upgrade from. It is built from its commit once, and kept in the
 * user's cache.
 */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cacheDirectory } from '../cache-directory.ts';

const run = promisify(execFile);

/** The newest version with a date in CHANGELOG.md, and the last commit before changes were listed after it. */
export const LAST_VERSION = '0.1.0';
const COMMIT = 'b7d2c1cf2e13c0ea518ac8ada05322dd1499f9b2';
/** A tag of its own for its images, because sources of later commits can have the same number. */
const TAG = `${LAST_VERSION}-${COMMIT.slice(0, 8)}`;

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const IMAGES = 'images';
const TIMEOUT_MS = 600_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

export interface LastVersion {
  /** The tag of its images. */
  readonly tag: string;
  /** The script of its command line. */
  readonly lockstep: string;
  /** Archives of its images. */
  readonly images: readonly string[];
}

/** What a directory of the last version holds. */
export function lastVersionIn(directory: string): LastVersion {
  const images = join(directory, IMAGES);
  return {
    tag: TAG,
    lockstep: join(directory, 'bin/lockstep.js'),
    images: readdirSync(images).map((name) => join(images, name)),
  };
}

/**
 * The directory of the last version, which is built if it is missing. Undefined, with a report: this
 * checkout has no history from which it could be built.
 */
export async function buildLastVersion(
  report: (message: string) => void,
): Promise<string | undefined> {
  const cache = cacheDirectory();
  const target = join(cache, `lockstep-${TAG}`);
  if (existsSync(target)) return target;
  if (!(await hasHistory())) {
    report(
      `no upgrade is tested: this checkout has no commit ${COMMIT}, from which Lockstep ` +
        `${LAST_VERSION} is built; get the whole history with \`git fetch --unshallow\``,
    );
    return undefined;
  }
  report(`building Lockstep ${LAST_VERSION}; this takes a minute, once`);
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, 'build-'));
  try {
    const archive = join(directory, 'sources.tar');
    await execute(ROOT, 'git', 'archive', '--output', archive, COMMIT);
    await execute(directory, 'tar', '-xf', archive);
    rmSync(archive);
    const description = join(directory, 'package.json');
    const contents = JSON.parse(readFileSync(description, 'utf8')) as object;
    writeFileSync(description, JSON.stringify({ ...contents, version: TAG }));
    // It also builds the command line.
    await execute(directory, 'npm', 'ci', '--no-audit', '--no-fund');
    await execute(directory, 'npm', 'run', 'image', '--', '--output', IMAGES);
    await execute(directory, 'npm', 'prune', '--omit=dev', '--ignore-scripts', '--no-audit');
    // The rename makes it complete or absent; another build may have been quicker.
    if (!existsSync(target)) renameSync(directory, target);
    return target;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function hasHistory(): Promise<boolean> {
  try {
    await execute(ROOT, 'git', 'cat-file', '-e', `${COMMIT}^{commit}`);
    return true;
  } catch {
    return false;
  }
}

async function execute(directory: string, program: string, ...args: readonly string[]) {
  await run(program, args, { cwd: directory, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES });
}
