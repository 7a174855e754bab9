/** What the server writes when a connection leaves HTTP, or is refused to. */
import { createHash } from 'node:crypto';
import http from 'node:http';
import type { Socket } from 'node:net';
import type { HttpResponse } from '../ports/transport.ts';
import { sendResponse } from './http-response.ts';

/** Of RFC 6455, section 1.3: only a server that means a WebSocket answers with this in its hash. */
const WEB_SOCKET_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/**
 * The head of a 101. A handler that accepts a WebSocket leaves the proof of it to this end; one that
 * passes on what another server has answered brings that along.
 */
export function upgradeHead(incoming: http.IncomingMessage, response: HttpResponse): string {
  const key = incoming.headers['sec-websocket-key'];
  const isWebSocket = response.headers['upgrade']?.toLowerCase() === 'websocket';
  const proof =
    isWebSocket && key !== undefined && response.headers['sec-websocket-accept'] === undefined
      ? { 'sec-websocket-accept': acceptOf(key) }
      : {};
  const lines = Object.entries({ ...response.headers, ...proof }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return ['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n');
}

/** Any other answer than 101; the connection ends after it. */
export async function refuseUpgrade(
  incoming: http.IncomingMessage,
  socket: Socket,
  response: HttpResponse,
): Promise<void> {
  const outgoing = new http.ServerResponse(incoming);
  outgoing.on('error', () => undefined);
  outgoing.assignSocket(socket);
  const finished = new Promise<void>((resolve) => {
    outgoing.once('finish', resolve);
    outgoing.once('close', resolve);
  });
  await sendResponse(outgoing, response, { isHead: false, closeConnection: true });
  await finished;
}

function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}${WEB_SOCKET_GUID}`).digest('base64');
}
