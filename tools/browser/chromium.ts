/** Finds Chromium on this machine, or installs Debian's. */
import { spawnSync } from 'node:child_process';

/** The path of the program, or why there is none. */
export type Found = { readonly chromium: string } | { readonly missing: string };

export class InstallationError extends Error {
  override readonly name = 'InstallationError';
}

const PROGRAM = 'chromium';
const PACKAGES = ['chromium', 'fonts-dejavu-core'];
/** Some 150 MB. */
const INSTALLATION_LIMIT_MS = 600_000;

/**
 * Only a machine without root or without Debian's packages goes without a
 * browser: elsewhere a failed installation throws `InstallationError`.
 */
export function installedChromium(): Found {
  const before = pathOf(PROGRAM);
  if (before !== undefined) return { chromium: before };
  if (pathOf('apt-get') === undefined) return { missing: 'this system has no apt-get' };
  if (process.getuid?.() !== 0) return { missing: 'only root may install Chromium here' };
  apt('update');
  apt('install', '--yes', '--no-install-recommends', ...PACKAGES);
  const after = pathOf(PROGRAM);
  if (after === undefined) throw new InstallationError(`apt-get has installed no ${PROGRAM}`);
  return { chromium: after };
}

function pathOf(program: string): string | undefined {
  const { status, stdout } = spawnSync('which', [program], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

function apt(...args: readonly string[]): void {
  const { status, stdout, stderr, error } = spawnSync('apt-get', args, {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: INSTALLATION_LIMIT_MS,
  });
  if (status === 0) return;
  const why = [error?.message, stdout, stderr].filter(Boolean).join('\n');
  throw new InstallationError(`apt-get ${args.join(' ')} failed:\n${why}`);
}
