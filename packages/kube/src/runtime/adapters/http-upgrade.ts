/** What the server writes when a connection leaves HTTP, or when it refuses that. */
import http from 'node:http';
import type { Socket } from 'node:net';
import type { HttpResponse } from '../ports/transport.ts';
import { sendResponse } from './http-response.ts';

/** The head of a 101, as the handler has agreed to it. */
export function upgradeHead({ headers }: HttpResponse): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return ['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n');
}

/** Sends an answer other than 101; the connection ends after it. */
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
