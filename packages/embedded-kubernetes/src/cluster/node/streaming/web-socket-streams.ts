/**
 * Streams of `exec` and `attach` over a WebSocket: the first byte of each message names the channel
 * (`v4.channel.k8s.io`), and the client may end one of its own (`v5.channel.k8s.io`).
 */

import type { WebSocketConnection } from '../ports/web-socket.ts';
import {
  type CommandResult,
  outcomeStatus,
  type RemoteEvent,
  type RemoteStreams,
  resizeOf,
  type StreamOptions,
} from './remote-streams.ts';

export const CHANNEL_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const;

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const ERROR = 3;
const RESIZE = 4;
const CLOSE = 255;

export function webSocketStreams(
  connection: WebSocketConnection,
  options: StreamOptions,
): RemoteStreams {
  const send = (channel: number, chunk: Uint8Array): Promise<void> =>
    connection.send(Buffer.concat([Uint8Array.of(channel), chunk]));
  return {
    events: events(connection),
    send: async (stream, chunk) => {
      if (stream === 'stdout' && options.output) await send(STDOUT, chunk);
      if (stream === 'stderr' && options.error) await send(STDERR, chunk);
    },
    finish: async (outcome: CommandResult) => {
      await send(ERROR, Buffer.from(JSON.stringify(outcomeStatus(outcome))));
      connection.close();
    },
  };
}

async function* events(connection: WebSocketConnection): AsyncGenerator<RemoteEvent, void> {
  for await (const message of connection.messages()) {
    const [channel] = message;
    const chunk = message.subarray(1);
    if (channel === STDIN && chunk.length > 0) yield { type: 'stdin', chunk };
    if (channel === CLOSE && chunk[0] === STDIN) yield { type: 'stdin-end' };
    const resize = channel === RESIZE ? resizeOf(chunk) : undefined;
    if (resize !== undefined) yield resize;
  }
}
