import { createServer } from 'node:net';
import type { Random } from '../ports/random.ts';

/**
 * Distinct TCP ports of `host` on which nothing listens now, for servers that are started later, or
 * again and again on the same port. All are below those that systems give to outgoing connections
 * (Linux from 32768, others from 49152), since nobody holds the port meanwhile: a connection could take
 * it from the server, or a client that looks for the server could be connected with itself.
 * Rejects if ports that are tried are taken, or cannot be listened on, again and again.
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

/** Of which there is just one. */
export async function freePort(random: Random, host?: string): Promise<number> {
  const [port = 0] = await freePorts(1, random, host);
  return port;
}

const FIRST_PORT = 20_000;
/** As many as there are before those that Kubernetes gives to Services (30000 to 32767). */
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
