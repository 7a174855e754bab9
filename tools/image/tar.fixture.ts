/** Reads an archive by the standard's offsets, apart from the code that writes them. */
export interface ReadEntry {
  readonly type: string;
  readonly mode: number;
  readonly content: Buffer;
  readonly target: string;
}

export function readTar(archive: Buffer): ReadonlyMap<string, ReadEntry> {
  const entries = new Map<string, ReadEntry>();
  let at = 0;
  while (archive[at] !== 0) {
    const header = archive.subarray(at, at + 512);
    const size = octal(header, 124, 12);
    const unsigned = Buffer.from(header).fill(' ', 148, 156);
    if (unsigned.reduce((sum, byte) => sum + byte, 0) !== octal(header, 148, 8)) {
      throw new Error(`wrong checksum at ${at}`);
    }
    entries.set(text(header, 0, 100), {
      type: text(header, 156, 1),
      mode: octal(header, 100, 8),
      content: archive.subarray(at + 512, at + 512 + size),
      target: text(header, 157, 100),
    });
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return entries;
}

function text(header: Buffer, at: number, width: number): string {
  const [before = ''] = header.toString('utf8', at, at + width).split('\0', 1);
  return before;
}

function octal(header: Buffer, at: number, width: number): number {
  return Number.parseInt(text(header, at, width).trim(), 8);
}
