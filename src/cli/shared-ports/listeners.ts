/** Listening sockets, as `/proc/net/tcp` and `/proc/net/tcp6` of Linux list them. */
export interface Listener {
  readonly port: number;
  /** As in the file, in hexadecimal digits: only equality and zero matter. */
  readonly address: string;
  readonly inode: string;
}

/** State of a socket that listens. */
const LISTEN = '0A';
/** Columns: sl, local_address, rem_address, st, four of queues and timers, uid, timeout, inode. */
const LOCAL_ADDRESS = 1;
const STATE = 3;
const INODE = 9;

/** Skips lines that it does not understand. */
export function parseListeners(text: string): readonly Listener[] {
  return text.split('\n').flatMap((line): readonly Listener[] => {
    const fields = line.trim().split(/\s+/);
    const [, address, port] = /^([0-9A-F]+):([0-9A-F]{4})$/.exec(fields[LOCAL_ADDRESS] ?? '') ?? [];
    const inode = fields[INODE];
    if (fields[STATE] !== LISTEN || address === undefined || inode === undefined) return [];
    return [{ port: Number.parseInt(port ?? '', 16), address, inode }];
  });
}

/**
 * Ports on which several sockets listen at overlapping addresses, with the inodes of these sockets.
 * The kernel allows it only to sockets that ask for it (`SO_REUSEPORT`), and spreads connections
 * over them.
 */
export function sharedPorts(
  listeners: readonly Listener[],
): ReadonlyMap<number, readonly string[]> {
  const byPort = new Map<number, Listener[]>();
  for (const listener of listeners) {
    const others = byPort.get(listener.port);
    if (others === undefined) byPort.set(listener.port, [listener]);
    else others.push(listener);
  }
  const shared = new Map<number, readonly string[]>();
  for (const [port, all] of byPort) {
    const overlapping = all.filter((one) => all.some((other) => overlap(one, other)));
    if (overlapping.length > 0) shared.set(port, [...new Set(overlapping.map(inodeOf))]);
  }
  return shared;
}

function overlap(one: Listener, other: Listener): boolean {
  if (one.inode === other.inode) return false;
  return isWildcard(one) || isWildcard(other) || one.address === other.address;
}

function isWildcard({ address }: Listener): boolean {
  return /^0+$/.test(address);
}

function inodeOf({ inode }: Listener): string {
  return inode;
}
