/** Whose process is at the other end of a connection on this machine. */
import { readFileSync } from 'node:fs';

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const PORT_DIGITS = 4;
/** Columns of the kernel's table. */
const [LOCAL, REMOTE, UID] = [1, 2, 7];

/**
 * The user whose connection from `peerPort` to `serverPort` cannot be ours; undefined if it is ours or
 * root's, who forwards ports and may read everything, or if this system does not tell.
 */
export function foreignUser(
  { peerPort, serverPort }: { readonly peerPort: number; readonly serverPort: number },
  read: (file: string) => string = (file) => readFileSync(file, 'utf8'),
  own: number | undefined = process.getuid?.(),
): number | undefined {
  // Root serves users that it does not know, after sudo for example.
  if (own === undefined || own === 0) return undefined;
  const [from, to] = [peerPort, serverPort].map(portText);
  return TABLES.flatMap((file) => linesOf(file, read))
    .map((line) => line.trim().split(/\s+/))
    .filter((row) => row[LOCAL]?.endsWith(`:${from}`) && row[REMOTE]?.endsWith(`:${to}`))
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

function portText(port: number): string {
  return port.toString(16).toUpperCase().padStart(PORT_DIGITS, '0');
}
