/** The directories of this machine, cached for a moment. */
import { readdir, realpath, stat } from 'node:fs/promises';
import type { HostEntry, HostTree } from '../namespaces/root-plan.ts';

/** Many containers start within a moment, and a machine's directories change rarely. */
const MAX_AGE_MS = 1_000;

/** What it returns may be a second old. */
export function createHostTree(): HostTree {
  let sinceMs = Number.NEGATIVE_INFINITY;
  const directories = new Map<string, Promise<string | undefined>>();
  const contents = new Map<string, Promise<readonly HostEntry[]>>();
  const forgetOld = (): void => {
    const nowMs = performance.now();
    if (nowMs - sinceMs < MAX_AGE_MS) return;
    sinceMs = nowMs;
    directories.clear();
    contents.clear();
  };
  return {
    realDirectory(path) {
      forgetOld();
      return remembered(directories, path, realDirectory);
    },
    entries(directory) {
      forgetOld();
      return remembered(contents, directory, entries);
    },
  };
}

function remembered<T>(
  known: Map<string, Promise<T>>,
  path: string,
  look: (path: string) => Promise<T>,
): Promise<T> {
  const found = known.get(path) ?? look(path);
  known.set(path, found);
  return found;
}

async function realDirectory(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).isDirectory() ? await realpath(path) : undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

async function entries(directory: string): Promise<readonly HostEntry[]> {
  const found = await readdir(directory, { withFileTypes: true });
  return found.map((entry) => {
    if (entry.isDirectory()) return { name: entry.name, kind: 'directory' };
    return { name: entry.name, kind: entry.isSymbolicLink() ? 'link' : 'other' };
  });
}
