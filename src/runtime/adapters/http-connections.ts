import type { Socket } from 'node:net';

/**
 * Who is connected to a server. When there are too many, one gives way that is not being answered: the
 * oldest of the address that has most of them. So a crowd that connects and says nothing, or never comes
 * to an end, keeps only its own kind out.
 */
export class HttpConnections {
  /** By the other end's address and port, oldest first. */
  readonly #open = new Map<string, Connection>();
  readonly #maxConnections: number;

  constructor(maxConnections: number) {
    this.#maxConnections = maxConnections;
  }

  came(socket: Socket): void {
    const key = keyOf(socket);
    const connection = { socket, address: socket.remoteAddress ?? '', requests: 0 };
    this.#open.set(key, connection);
    socket.once('close', () => {
      if (this.#open.get(key) === connection) this.#open.delete(key);
    });
    if (this.#open.size > this.#maxConnections) this.#cutOffOne(socket);
  }

  /** A whole request has come over `socket`, which may be the one above TLS. Returns what ends that. */
  answering(socket: Socket): () => void {
    const connection = this.#open.get(keyOf(socket));
    if (connection === undefined) return () => undefined;
    connection.requests++;
    return () => void connection.requests--;
  }

  destroyAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #cutOffOne(last: Socket): void {
    const candidates = [...this.#open.values()].filter(({ requests }) => requests === 0);
    const counts = new Map<string, number>();
    for (const { address } of candidates) counts.set(address, (counts.get(address) ?? 0) + 1);
    const most = Math.max(...counts.values());
    const one = candidates.find(({ address }) => counts.get(address) === most);
    (one?.socket ?? last).destroy();
  }
}

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** Those that are being answered. */
  requests: number;
}

function keyOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
