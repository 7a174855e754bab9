import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** The directory of one embedded cluster: credentials, Pods, logs. One process owns it at a time. */
export interface StateDirectory {
  readonly path: string;
  readonly kubeconfig: string;
  /** Gives the directory up; `remove` deletes it with all it holds. */
  release(remove: boolean): void;
}

/** Somebody else runs a cluster there. */
export class StateDirectoryInUse extends Error {
  override readonly name = 'StateDirectoryInUse';
}

export const DEFAULT_STATE_DIRECTORY = join(
  process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'),
  'lockstep',
);

const LOCK_ATTEMPTS = 3;

/** Opens `path`, made if need be. Throws `StateDirectoryInUse` while its owner lives. */
export function openStateDirectory(path: string): StateDirectory {
  const directory = resolve(path);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = join(directory, 'owner.pid');
  for (let attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
    try {
      writeFileSync(lock, `${process.pid}\n`, { flag: 'wx', mode: 0o600 });
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

/** A new directory of its own below the system's temporary directory. */
export function temporaryStateDirectory(): StateDirectory {
  return openStateDirectory(mkdtempSync(join(tmpdir(), 'lockstep-')));
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

/** The living process that holds the lock, if there is one. */
function ownerOf(lock: string): number | undefined {
  let pid: number;
  try {
    pid = Number(readFileSync(lock, 'utf8'));
  } catch {
    return undefined;
  }
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? pid : undefined;
  }
}
