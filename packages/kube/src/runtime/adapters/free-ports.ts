/** Finds free TCP ports. */
import { createServer } from 'node:net';
import type { Random } from '../ports/random.ts';

/**
 * Distinct TCP ports of `host` without a listener, for servers that start later, or repeatedly on
 * one port. All are below the range for outgoing connections (Linux from 32768, others from 49152).
 * Otherwise a connection could take the port from the server, or a client that looks for the server
 * could connect to itself. Rejects if the tried ports are taken, or unusable, again and again.
 */
export async function freePorts(
  count: number,
  random: Random,
  host = '127.0.0.1',
): Promise<readonly number[]> {
  const found = new Set<number>();
  for (let i = 0; i < MAX_TRIES && found.size < count; i++) {
    const port = FIRST_PORT + Math.floor(random.next() * PORTS);
    if (await isFree(port, host)) found.add(port);
  }
  if (found.size < count) throw new Error(`found no ${count} free ports of ${host}`);
  return [...found];
}

/** As `freePorts`, for one port. */
export async function freePort(random: Random, host?: string): Promise<number> {
  const [port = 0] = await freePorts(1, random, host);
  return port;
}

const FIRST_PORT = 20_000;
/** Ports below those that Kubernetes gives to Services (30000 to 32767). */
const PORTS = 10_000;
const MAX_TRIES = 100;

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(false) : reject(error),
    );
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
