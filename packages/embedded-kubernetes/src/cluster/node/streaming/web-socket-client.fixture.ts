/** Clients of WebSockets in memory: the library ws over a server's handler, without a port. */
import http, { type IncomingMessage } from 'node:http';
import { type Duplex, duplexPair } from 'node:stream';
import { upgradeHead } from '@lockstep/kube/runtime/adapters/http-upgrade.ts';
import { socketChannel } from '@lockstep/kube/runtime/adapters/socket-channel.ts';
import { carryBytes } from '@lockstep/kube/runtime/byte-channel.ts';
import type { HttpHandler } from '@lockstep/kube/runtime/ports/transport.ts';
import { WebSocket } from 'ws';

/** Resolves with the client as soon as the handler has agreed; one that leaves ends the request. */
export async function openWebSocket(
  handler: HttpHandler,
  path: string,
  protocol: string,
): Promise<WebSocket> {
  const [near, far] = duplexPair();
  near.once('close', () => far.destroy());
  const server = http.createServer();
  server.on('upgrade', (incoming: IncomingMessage, stream: Duplex) => {
    void serve(handler, incoming, stream);
  });
  server.emit('connection', far);
  const client = new WebSocket(`ws://node${path}`, protocol, {
    createConnection: () => near as never,
    perMessageDeflate: false,
  });
  await new Promise<void>((resolve, reject) => {
    client.once('open', resolve);
    client.once('error', reject);
  });
  return client;
}

async function serve(handler: HttpHandler, incoming: IncomingMessage, stream: Duplex) {
  const gone = new AbortController();
  const headers = incoming.headers as Record<string, string>;
  const { url: path = '' } = incoming;
  const response = await handler({ method: 'GET', path, headers, signal: gone.signal });
  const { channel } = response;
  if (channel === undefined) throw new Error(`refused with ${response.status}`);
  stream.write(upgradeHead(response));
  const client = socketChannel(stream);
  await Promise.race([carryBytes(client, channel), carryBytes(channel, client)]);
  stream.destroy();
  gone.abort();
}
