/**
 * Reads ELF binaries of 64 bits, little-endian, as x64 and arm64 have them: which loader and
 * libraries a program asks for. `ldd` cannot read binaries of another architecture, since it runs the
 * loader.
 */
import { ImageError } from './image-error.ts';

const MAGIC = 0x464c457f;
const AT = { class: 4, data: 5, programHeaders: 32, sectionHeaders: 40, entrySize: 54, count: 56 };
const AT_SECTION_COUNT = 60;
const CLASS_64 = 2;
const LITTLE_ENDIAN = 1;

const LOAD = 1;
const DYNAMIC = 2;
const INTERPRETER = 3;

const NEEDED = 1;
const STRING_TABLE = 5;
const DYNAMIC_ENTRY_BYTES = 16;

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

/** The path of the loader; undefined: it is linked statically, or a library. */
export function interpreterOf(binary: Buffer): string | undefined {
  const found = segmentsOf(binary).find(({ type }) => type === INTERPRETER);
  return found && textAt(binary, found.offset);
}

/** The names of the libraries that it asks for itself. */
export function neededBy(binary: Buffer): readonly string[] {
  const segments = segmentsOf(binary);
  const dynamic = segments.find(({ type }) => type === DYNAMIC);
  if (dynamic === undefined) return [];
  const names: number[] = [];
  let table: number | undefined;
  for (let at = dynamic.offset; at < dynamic.offset + dynamic.size; at += DYNAMIC_ENTRY_BYTES) {
    const tag = wholeAt(binary, at);
    if (tag === NEEDED) names.push(wholeAt(binary, at + 8));
    if (tag === STRING_TABLE) table = wholeAt(binary, at + 8);
  }
  const strings = table;
  if (strings === undefined) return [];
  const home = segments.find(
    ({ type, address, size }) => type === LOAD && strings >= address && strings < address + size,
  );
  if (home === undefined) throw new ImageError('an ELF binary has no string table');
  return names.map((name) => textAt(binary, home.offset + strings - home.address + name));
}

/**
 * The binary without what stands behind its segments, which no loader reads: symbols, and the list of
 * sections. `strip` does a little better, but knows only its own architecture.
 */
export function withoutSections(binary: Buffer): Buffer {
  const end = Math.max(...segmentsOf(binary).map(({ offset, size }) => offset + size));
  const cut = Buffer.from(binary.subarray(0, end));
  cut.writeBigUInt64LE(0n, AT.sectionHeaders);
  cut.writeUInt32LE(0, AT_SECTION_COUNT);
  return cut;
}

function segmentsOf(binary: Buffer): readonly Segment[] {
  const isKnown =
    binary.length > 64 &&
    binary.readUInt32LE(0) === MAGIC &&
    binary[AT.class] === CLASS_64 &&
    binary[AT.data] === LITTLE_ENDIAN;
  if (!isKnown) throw new ImageError('expected an ELF binary of 64 bits');
  const first = wholeAt(binary, AT.programHeaders);
  const size = binary.readUInt16LE(AT.entrySize);
  return Array.from({ length: binary.readUInt16LE(AT.count) }, (_, index) => {
    const at = first + index * size;
    return {
      type: binary.readUInt32LE(at),
      offset: wholeAt(binary, at + 8),
      address: wholeAt(binary, at + 16),
      size: wholeAt(binary, at + 32),
    };
  });
}

function wholeAt(binary: Buffer, at: number): number {
  return Number(binary.readBigUInt64LE(at));
}

function textAt(binary: Buffer, at: number): string {
  return binary.toString('latin1', at, binary.indexOf(0, at));
}
