/**
 * Receives the body of one request, within limits for its size, its time, and all bodies together.
 */
import type http from 'node:http';
import { type ApiStatusError, failure, failureWithoutReason } from '../../status.ts';
import type { BodyBudget } from '../body-budget.ts';

export interface BodyLimits {
  /** 0: requests with a body are refused, even a small one. */
  readonly maxBytes: number;
  /** From the end of the head to the end of the body. */
  readonly timeoutMs: number;
  /** Absent: bodies are not counted together. */
  readonly budget?: BodyBudget | undefined;
}

export type ReceivedBody =
  | {
      readonly kind: 'Body';
      readonly bytes: Uint8Array;
      /** Call it when the body is not needed any longer. */
      readonly release: () => void;
    }
  | { readonly kind: 'Refused'; readonly error: ApiStatusError }
  /** The peer left before the end. */
  | { readonly kind: 'Gone' };

export async function receiveBody(
  incoming: http.IncomingMessage,
  { maxBytes, timeoutMs, budget }: BodyLimits,
): Promise<ReceivedBody> {
  const isTooLarge = maxBytes === 0 ? hasBody(incoming) : lengthOf(incoming) > maxBytes;
  if (isTooLarge) return refused(tooLarge(maxBytes));
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const share = budget?.begin(incoming.socket.remoteAddress ?? '', () => refuse(noRoom()));
    const timer = setTimeout(() => refuse(tooSlow(timeoutMs)), timeoutMs);
    const finish = (received: ReceivedBody): void => {
      clearTimeout(timer);
      resolve(received);
    };
    const refuse = (error: ApiStatusError): void => {
      incoming.pause();
      incoming.removeListener('data', take);
      chunks.length = 0;
      share?.release();
      finish(refused(error));
    };
    const keepPace = pacer(incoming);
    const take = (chunk: Buffer): void => {
      size += chunk.byteLength;
      keepPace(chunk);
      if (size > maxBytes) refuse(tooLarge(maxBytes));
      else {
        chunks.push(chunk);
        share?.take(chunk.byteLength);
      }
    };
    incoming.on('data', take);
    incoming.once('end', () => {
      share?.arrived();
      finish({ kind: 'Body', bytes: Buffer.concat(chunks), release: () => share?.release() });
    });
    incoming.once('close', () => {
      if (!incoming.complete) share?.release();
      finish({ kind: 'Gone' });
    });
  });
}

/** How much one connection may send before it is paused for one turn. */
const BYTES_PER_TURN = 32 * 1024;

/**
 * Pauses `incoming` until the next turn of the event loop after it has sent much. Call it for each
 * chunk. Otherwise some hundred peers that send at once would block everything else.
 */
export function pacer(incoming: http.IncomingMessage): (chunk: Buffer) => void {
  let bytes = 0;
  return ({ byteLength }) => {
    bytes += byteLength;
    if (bytes < BYTES_PER_TURN) return;
    bytes = 0;
    incoming.pause();
    setImmediate(() => incoming.resume());
  };
}

/** Whether the head announces a body. */
export function hasBody(incoming: http.IncomingMessage): boolean {
  return lengthOf(incoming) > 0 || incoming.headers['transfer-encoding'] !== undefined;
}

function lengthOf({ headers }: http.IncomingMessage): number {
  return Number(headers['content-length'] ?? 0);
}

function refused(error: ApiStatusError): ReceivedBody {
  return { kind: 'Refused', error };
}

function tooLarge(maxBytes: number): ApiStatusError {
  return failure('RequestEntityTooLarge', `Request entity too large: limit is ${maxBytes}`);
}

const HTTP_REQUEST_TIMEOUT = 408;

function tooSlow(timeoutMs: number): ApiStatusError {
  const message = `the body of the request did not arrive within ${timeoutMs} ms`;
  return failureWithoutReason(message, HTTP_REQUEST_TIMEOUT);
}

/** API servers retry after this time by themselves. */
const RETRY_AFTER_SECONDS = 1;

function noRoom(): ApiStatusError {
  const message = 'too many bodies of requests are on their way: try again later';
  return failure('TooManyRequests', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
