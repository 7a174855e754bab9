/** Writes the files of an image to disk. */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TarEntry } from './tar.ts';

/** Writes them below `directory`, upper layers over lower ones. */
export function writeRoot(directory: string, layers: readonly (readonly TarEntry[])[]): void {
  for (const entry of layers.flat()) {
    const path = join(directory, entry.path);
    mkdirSync(dirname(path), { recursive: true });
    switch (entry.kind) {
      case 'Directory':
        mkdirSync(path, { recursive: true });
        chmodSync(path, entry.mode);
        break;
      case 'Link':
        symlinkSync(entry.target, path);
        break;
      case 'File':
        writeFileSync(path, entry.content);
        chmodSync(path, entry.mode);
        break;
    }
  }
}
