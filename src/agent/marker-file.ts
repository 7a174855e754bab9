/**
 * Keeps the marker in a file of one line. A write goes to a second file, is synced, renamed over
 * the first, and the directory is synced: a crash at any point leaves either the old marker or the
 * new one.
 */
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import { formatMarker, type MarkerStore, parseMarker } from './marker.ts';

/** The directory of the marker. A crash may lose or tear what is not synced. */
export interface MarkerDirectory {
  /** For messages. */
  readonly path: string;
  /** Undefined without such a file. */
  read(name: string): Promise<string | undefined>;
  /** Creates the file, or empties the one of that name. */
  create(name: string): Promise<NewFile>;
  /** Takes the place of a file that has the new name. */
  rename(from: string, to: string): Promise<void>;
  /** Makes durable which file has which name. */
  sync(): Promise<void>;
}

export interface NewFile {
  writeFile(text: string): Promise<void>;
  /** Makes the text durable. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export const MARKER_FILE = 'marker.json';
const NEXT_FILE = `${MARKER_FILE}.next`;

export function createMarkerFile(directory: MarkerDirectory, logger: Logger): MarkerStore {
  return {
    async read() {
      const text = await directory.read(MARKER_FILE);
      if (text === undefined) return undefined;
      const marker = parseMarker(text);
      if (marker === undefined) {
        logger.warn('the marker file is malformed and counts as none', {
          path: `${directory.path}/${MARKER_FILE}`,
          content: text.slice(0, 100),
        });
      }
      return marker;
    },
    async write(marker) {
      const next = await directory.create(NEXT_FILE);
      try {
        await next.writeFile(formatMarker(marker));
        await next.sync();
      } finally {
        await next.close();
      }
      await directory.rename(NEXT_FILE, MARKER_FILE);
      await directory.sync();
    },
  };
}
