/**
 * Keeps the marker in a file of one line. A write goes to a second file, is synced, renamed over
 * the first, and the directory is synced: a crash at any point leaves either the old marker or the
 * new one.
 */
import { type FileHandle, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import { formatMarker, type MarkerStore, parseMarker } from '../marker.ts';

const MARKER_FILE = 'marker.json';

export function createMarkerFile(directory: string, logger: Logger): MarkerStore {
  const path = join(directory, MARKER_FILE);
  return {
    async read() {
      const text = await textOf(path);
      if (text === undefined) return undefined;
      const marker = parseMarker(text);
      if (marker === undefined) {
        logger.warn('the marker file is malformed and counts as none', {
          path,
          content: text.slice(0, 100),
        });
      }
      return marker;
    },
    async write(marker) {
      const beside = `${path}.next`;
      await synced(await open(beside, 'w', 0o600), (file) => file.writeFile(formatMarker(marker)));
      await rename(beside, path);
      await synced(await open(directory, 'r'), () => Promise.resolve());
    },
  };
}

async function synced(file: FileHandle, write: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await write(file);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Undefined when there is no such file. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
