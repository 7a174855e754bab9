/**
 * Writes tar archives (POSIX ustar) that depend on their entries alone. Entries are sorted by path,
 * times are zero and everything belongs to root, so equal entries give equal bytes on every
 * machine.
 */

export type TarEntry =
  | {
      readonly kind: 'File';
      readonly path: string;
      readonly mode: number;
      readonly content: Buffer;
    }
  | { readonly kind: 'Directory'; readonly path: string; readonly mode: number }
  | { readonly kind: 'Link'; readonly path: string; readonly target: string };

/** Paths are relative, without a slash at either end. Throws for a path that ustar cannot hold. */
export function tarOf(entries: readonly TarEntry[]): Buffer {
  const sorted = entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return Buffer.concat([
    ...sorted.flatMap((entry) => [header(entry), ...contentBlocks(entry)]),
    Buffer.alloc(2 * BLOCK_BYTES),
  ]);
}

const BLOCK_BYTES = 512;
const MAX_NAME_BYTES = 100;
const LINK_MODE = 0o777;

function contentBlocks(entry: TarEntry): readonly Buffer[] {
  if (entry.kind !== 'File') return [];
  const rest = entry.content.length % BLOCK_BYTES;
  return rest === 0 ? [entry.content] : [entry.content, Buffer.alloc(BLOCK_BYTES - rest)];
}

/** Offsets of the fields of a header, and where the magic, version and checksum are. */
const AT = { mode: 100, uid: 108, gid: 116, size: 124, mtime: 136, checksum: 148, type: 156 };
const AT_LINK = 157;
const AT_MAGIC = 257;
const TYPE = { File: '0', Link: '2', Directory: '5' } as const;

function header(entry: TarEntry): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  writeName(block, entry.kind === 'Directory' ? `${entry.path}/` : entry.path, 0);
  if (entry.kind === 'Link') writeName(block, entry.target, AT_LINK);
  writeOctal(block, entry.kind === 'Link' ? LINK_MODE : entry.mode, AT.mode, 8);
  writeOctal(block, 0, AT.uid, 8);
  writeOctal(block, 0, AT.gid, 8);
  writeOctal(block, entry.kind === 'File' ? entry.content.length : 0, AT.size, 12);
  writeOctal(block, 0, AT.mtime, 12);
  block.write(TYPE[entry.kind], AT.type);
  block.write('ustar\0' + '00', AT_MAGIC, 'latin1');
  // The checksum is taken while its own field holds spaces.
  block.fill(' ', AT.checksum, AT.type);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, AT.checksum, 'latin1');
  return block;
}

function writeName(block: Buffer, name: string, at: number): void {
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) {
    throw new Error(`"${name}" is longer than the ${MAX_NAME_BYTES} bytes of a name in an archive`);
  }
  block.write(name, at);
}

/** Octal digits and a zero byte, together `width` bytes. */
function writeOctal(block: Buffer, value: number, at: number, width: number): void {
  block.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at, 'latin1');
}
