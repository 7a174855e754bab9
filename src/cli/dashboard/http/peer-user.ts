/** Whose process is at the other end of a connection on this machine. */
import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
/** Columns of the kernel's table. */
const [LOCAL, REMOTE, UID] = [1, 2, 7];
/** How an address of IPv4 begins in a socket of IPv6. */
const MAPPED = /^::ffff:/i;
const MAPPED_WORDS = '0000000000000000FFFF0000';

/** One end of a connection of IPv4. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/**
 * The user whose connection from `peer` to `server` cannot be ours; undefined if it is ours or
 * root's, who forwards ports and may read everything, or if this system does not tell.
 */
export function foreignUser(
  { peer, server }: { readonly peer: Endpoint; readonly server: Endpoint },
  read: (file: string) => string = (file) => readFileSync(file, 'utf8'),
  own: number | undefined = process.getuid?.(),
): number | undefined {
  // Root serves users that it does not know, after sudo for example.
  if (own === undefined || own === 0) return undefined;
  const [from, to] = [peer, server].map(endText);
  return TABLES.flatMap((file) => linesOf(file, read))
    .map((line) => line.trim().split(/\s+/))
    .filter((row) => unmapped(row[LOCAL]) === from && unmapped(row[REMOTE]) === to)
    .map((row) => Number(row[UID]))
    .find((uid) => uid !== own && uid !== 0);
}

function linesOf(file: string, read: (file: string) => string): readonly string[] {
  try {
    return read(file).split('\n');
  } catch {
    return [];
  }
}

/** As the table has it: the address is one number, in the order of bytes of this machine. */
function endText({ address, port }: Endpoint): string {
  const bytes = address.replace(MAPPED, '').split('.').map(Number);
  const inOrder = endianness() === 'LE' ? bytes.toReversed() : bytes;
  const portBytes = [Math.floor(port / 256), port % 256];
  return `${hex(inOrder)}:${hex(portBytes)}`;
}

function hex(bytes: readonly number[]): string {
  return Buffer.from(bytes).toString('hex').toUpperCase();
}

function unmapped(end: string | undefined): string | undefined {
  return end?.startsWith(MAPPED_WORDS) ? end.slice(MAPPED_WORDS.length) : end;
}
