import type { Socket } from 'node:net';

/**
 * The open connections of a server. If there are too many, one without a request under way is
 * closed: the oldest of the address that has most of them. So clients that connect and send
 * nothing, or never finish a request, displace only each other.
 */
export class HttpConnections {
  /** By address and port of the other end, oldest first. */
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

  /**
   * A whole request has arrived over `socket`, which may be the one above TLS. Returns a function
   * that marks its end.
   */
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
  /** The number of requests under way. */
  requests: number;
}

function keyOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
