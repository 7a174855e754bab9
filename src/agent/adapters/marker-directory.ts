/** The directory of the marker on a real disk. */
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { MarkerDirectory } from '../marker-file.ts';

export function createMarkerDirectory(path: string): MarkerDirectory {
  return {
    path,
    async read(name) {
      try {
        return await readFile(join(path, name), 'utf8');
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      }
    },
    create: (name) => open(join(path, name), 'w', 0o600),
    rename: (from, to) => rename(join(path, from), join(path, to)),
    async sync() {
      const directory = await open(path, 'r');
      try {
        await directory.sync();
      } finally {
        await directory.close();
      }
    },
  };
}
