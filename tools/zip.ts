/**
 * Writes zip archives that depend on their entries alone: in their order, with one time for all, and
 * not compressed, because the archives are small and compressors differ.
 */
import { crc32 } from 'node:zlib';

export interface ZipEntry {
  /** Relative, of ASCII, with slashes. */
  readonly path: string;
  readonly content: Buffer;
}

const LOCAL_SIGNATURE = 0x04034b50;
const CENTRAL_SIGNATURE = 0x02014b50;
const END_SIGNATURE = 0x06054b50;
/** 2.0, the least that readers know. */
const VERSION = 20;
/** The high byte says that files have modes of Unix. */
const MADE_BY = (3 << 8) | VERSION;
/** 1980-01-01, the first day of the format. */
const DATE = (1 << 5) | 1;
/** A regular file, `rw-r--r--`. */
const MODE = 0o100644;

export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, content } of entries) {
    const name = Buffer.from(path, 'ascii');
    const about = aboutFile(name, content);
    const file = Buffer.concat([uint32(LOCAL_SIGNATURE), about, name, content]);
    directory.push(
      Buffer.concat([
        uint32(CENTRAL_SIGNATURE),
        uint16(MADE_BY),
        about,
        // No comment, the first disk, no attributes of DOS.
        uint16(0, 0, 0),
        uint32((MODE << 16) >>> 0, offset),
        name,
      ]),
    );
    files.push(file);
    offset += file.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.concat([
    uint32(END_SIGNATURE),
    uint16(0, 0, entries.length, entries.length),
    uint32(central.length, offset),
    uint16(0),
  ]);
  return Buffer.concat([...files, central, end]);
}

/** What both headers of a file say, up to the length of a field for extensions. */
function aboutFile(name: Buffer, content: Buffer): Buffer {
  return Buffer.concat([
    // No flags, not compressed, midnight.
    uint16(VERSION, 0, 0, 0, DATE),
    uint32(crc32(content), content.length, content.length),
    uint16(name.length, 0),
  ]);
}

function uint16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt16LE(value, 2 * index);
  return bytes;
}

function uint32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, 4 * index);
  return bytes;
}
