/** Installs packages of Debian, as root. */
import { spawnSync } from 'node:child_process';

export class InstallationError extends Error {
  override readonly name = 'InstallationError';
}

/** For some hundred MB. */
const INSTALLATION_LIMIT_MS = 600_000;

export function hasApt(): boolean {
  return pathOf('apt-get') !== undefined;
}

/** Throws `InstallationError`. */
export function installPackages(names: readonly string[]): void {
  apt('update');
  apt('install', '--yes', '--no-install-recommends', ...names);
}

/** Where a program is; undefined if there is none. */
export function pathOf(program: string): string | undefined {
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
