/**
 * Writes an HttpResponse to a connection. Whole bodies are sent with their length in one piece;
 * streams chunk by chunk, each flushed at once and read no faster than the peer takes them.
 */
import type http from 'node:http';
import type { HttpResponse } from '../ports/transport.ts';
import { pacer } from './request-body.ts';

interface SendOptions {
  /** The answer to HEAD has the head of the response and no body. */
  readonly isHead: boolean;
  readonly closeConnection: boolean;
}

/** How much of a refused request is read and dropped, so that the peer can read the answer. */
const MAX_DISCARDED_BYTES = 8 * 1024 * 1024;

const DISCARD_TIMEOUT_MS = 1_000;

/** Resolves when everything was handed over or the peer has gone; rejects if the body fails. */
export async function sendResponse(
  outgoing: http.ServerResponse,
  response: HttpResponse,
  options: SendOptions,
): Promise<void> {
  const { body } = response;
  const isWhole = body instanceof Uint8Array;
  outgoing.writeHead(response.status, {
    ...response.headers,
    ...(options.closeConnection ? { connection: 'close' } : {}),
    ...(isWhole && !isBodyless(response.status) ? { 'content-length': body.byteLength } : {}),
  });
  if (isWhole && !outgoing.req.complete) {
    outgoing.write(body);
    await discardRest(outgoing.req);
    outgoing.end();
    return;
  }
  if (isWhole) {
    outgoing.end(options.isHead ? undefined : body);
    return;
  }
  const chunks = body[Symbol.asyncIterator]();
  if (options.isHead) await chunks.return?.();
  else {
    outgoing.flushHeaders();
    await pump(chunks, outgoing);
  }
  outgoing.end();
}

/** True if the response was written to its end; false if the peer cut it off. */
export function isComplete(outgoing: http.ServerResponse): boolean {
  return outgoing.writableFinished;
}

function isBodyless(status: number): boolean {
  return status === 204 || status === 304 || status < 200;
}

/**
 * Uses callbacks instead of awaits: racing each chunk against the end of the connection would keep
 * a reaction per chunk alive for the whole watch.
 */
function pump(chunks: AsyncIterator<Uint8Array>, outgoing: http.ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const finish = (settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      outgoing.removeListener('close', stop);
      outgoing.removeListener('drain', next);
      settle();
    };
    const stop = (): void => {
      // Not awaited: a generator that waits for something answers `return` only after that.
      chunks.return?.().catch(() => undefined);
      finish(resolve);
    };
    const next = (): void => {
      chunks.next().then(
        ({ done, value }) => {
          if (isOver) return;
          if (done === true) finish(resolve);
          else if (outgoing.write(value)) next();
          else outgoing.once('drain', next);
        },
        (error: unknown) => finish(() => reject(error)),
      );
    };
    outgoing.once('close', stop);
    if (outgoing.destroyed) stop();
    else next();
  });
}

/**
 * Reads the rest of a refused request (it is too large): closing at once would reset the
 * connection, and lose the answer.
 */
function discardRest(incoming: http.IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, DISCARD_TIMEOUT_MS);
    const finish = (): void => {
      clearTimeout(timer);
      resolve();
    };
    let discarded = 0;
    const keepPace = pacer(incoming);
    incoming.removeAllListeners('data');
    incoming.on('data', (chunk: Buffer) => {
      discarded += chunk.byteLength;
      keepPace(chunk);
      if (discarded > MAX_DISCARDED_BYTES) finish();
    });
    incoming.once('end', finish);
    incoming.once('close', finish);
    incoming.resume();
  });
}
