/** The directory of one embedded cluster. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { processStat } from './process-stat.ts';

/** It holds credentials, Pods and logs. One process owns it at a time. */
export interface StateDirectory {
  readonly path: string;
  readonly kubeconfig: string;
  /** Gives the directory up; `remove` deletes it with everything in it. */
  release(remove: boolean): void;
}

/** Another process runs a cluster there. */
export class StateDirectoryInUse extends Error {
  override readonly name = 'StateDirectoryInUse';
}

/** No cluster can use this directory. */
export class StateDirectoryUnusable extends Error {
  override readonly name = 'StateDirectoryUnusable';
}

export const DEFAULT_STATE_DIRECTORY = join(
  process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'),
  'lockstep',
);

const LOCK = 'owner.pid';
const LOCK_ATTEMPTS = 3;

/**
 * Opens `path`, and creates it if need be. Throws `StateDirectoryInUse` while its owner lives, and
 * `StateDirectoryUnusable` if it cannot be created or written to.
 */
export function openStateDirectory(path: string): StateDirectory {
  const directory = resolve(path);
  try {
    makeDirectory(directory);
    return lockedDirectory(directory);
  } catch (error) {
    if (error instanceof StateDirectoryInUse) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new StateDirectoryUnusable(
      `${directory} cannot be a state directory (${why}): choose another --state-dir`,
      { cause: error },
    );
  }
}

/**
 * Creates parents one by one. Node's own recursive mkdir never returns below `/proc`, and reports a
 * missing file on a read-only file system.
 */
function makeDirectory(directory: string): void {
  if (isDirectory(directory)) return;
  makeDirectory(dirname(directory));
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it just now.
    if (!isDirectory(directory)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function lockedDirectory(directory: string): StateDirectory {
  const lock = join(directory, LOCK);
  for (let attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
    try {
      writeFileSync(lock, ownEntry(), { flag: 'wx', mode: 0o600 });
      return stateDirectory(directory, lock);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const owner = ownerOf(lock);
      if (owner !== undefined) {
        throw new StateDirectoryInUse(
          `a cluster runs in ${directory} already (process ${owner}):` +
            ` use it with --kubeconfig ${kubeconfigIn(directory)}, end it, or choose another --state-dir`,
        );
      }
      rmSync(lock, { force: true });
    }
  }
  throw new StateDirectoryInUse(`${lock} changed hands ${LOCK_ATTEMPTS} times`);
}

/** A new directory below the system's temporary directory. */
export function temporaryStateDirectory(): StateDirectory {
  return openStateDirectory(mkdtempSync(join(tmpdir(), 'lockstep-')));
}

/** The living process that runs a cluster in `path`, if there is one. */
export function stateDirectoryOwner(path: string): number | undefined {
  return ownerOf(join(resolve(path), LOCK));
}

function stateDirectory(directory: string, lock: string): StateDirectory {
  return {
    path: directory,
    kubeconfig: kubeconfigIn(directory),
    release: (remove) => {
      rmSync(remove ? directory : lock, { recursive: true, force: true });
    },
  };
}

function kubeconfigIn(directory: string): string {
  return join(directory, 'kubeconfig');
}

/** Process ID and start time, because another process may get the ID, above all after a reboot. */
function ownEntry(): string {
  const { pid } = process;
  return `${[pid, processStat(pid)?.startTime ?? ''].join(' ').trim()}\n`;
}

/** The living process that holds the lock, if there is one. */
function ownerOf(lock: string): number | undefined {
  let entry: readonly string[];
  try {
    entry = readFileSync(lock, 'utf8').trim().split(' ');
  } catch {
    return undefined;
  }
  const pid = Number(entry[0]);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  const [, startTime] = entry;
  const found = startTime === undefined ? undefined : processStat(pid)?.startTime;
  if (found !== undefined && found !== startTime) return undefined;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? pid : undefined;
  }
}
