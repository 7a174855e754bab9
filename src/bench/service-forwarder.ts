import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * Forwards new connections to one port of this machine, as a Service does to its endpoint; existing
 * connections stay.
 */
export class Forwarder {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #host: string;
  #target = 0;

  private constructor(server: Server, host: string) {
    this.#server = server;
    this.#host = host;
    ({ port: this.port } = server.address() as AddressInfo);
    server.on('connection', (client) => this.#forward(client));
  }

  static async start(host: string): Promise<Forwarder> {
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, host, resolve);
    });
    return new Forwarder(server, host);
  }

  leadTo(port: number): void {
    this.#target = port;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #forward(client: Socket): void {
    const server = connect({ host: this.#host, port: this.#target, noDelay: true });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.once('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }
}
