/** Uses a socket as a ByteChannel. */
import type { Duplex } from 'node:stream';
import { type ByteChannel, TransportError } from '../ports/transport.ts';

/** `head` holds the bytes that were already read from the socket. */
export function socketChannel(socket: Duplex, head: Uint8Array = new Uint8Array()): ByteChannel {
  // The reader gets the error; without a listener it would end the process.
  let failure: Error | undefined;
  socket.on('error', (error) => {
    failure = error;
  });
  return {
    incoming: {
      async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
        if (head.byteLength > 0) yield head;
        try {
          for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
            yield chunk as Uint8Array;
          }
        } catch (error) {
          throw broken(failure ?? error);
        }
        if (!socket.readableEnded) throw broken(failure);
      },
    },
    write: (chunk) =>
      new Promise((resolve) => {
        if (socket.destroyed || socket.writableEnded) resolve();
        else socket.write(chunk, () => resolve());
      }),
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
  };
}

function broken(cause: unknown): TransportError {
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  return new TransportError(`the connection was broken off${why}`, { code: 'ECONNRESET', cause });
}
