/**
 * Reads the body of a watch: one JSON object per line. Bytes are split at the line feed before they
 * are decoded, so that a character across two chunks stays whole and no string ever grows. A stream
 * that ends within a line has lost something: that is an error, never an event.
 */
import type { KubeObject, Stored } from '../../meta.ts';
import { TransportError } from '../ports/transport.ts';
import type { WatchEvent } from './client.ts';
import { asBuffer } from './response-body.ts';
import { refusalOfObject } from './status-response.ts';

/** The longest event: objects have at most 3 MiB, and JSON in a Table may escape much of it. */
export const MAX_EVENT_BYTES = 16 * 1024 * 1024;

/** Marks the bookmark that ends the initial events of `sendInitialEvents`. */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

const LINE_FEED = 0x0a;

/** Cuts chunks of bytes into lines. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines that `chunk` completes, without line feeds and without empty lines. */
  *push(chunk: Uint8Array): Generator<string, void> {
    const bytes = asBuffer(chunk);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      this.#hold(bytes.subarray(start, end));
      start = end + 1;
      const line = this.#take();
      if (line !== '') yield line;
    }
    this.#hold(bytes.subarray(start));
  }

  /** The stream has ended. Throws if it did so within a line. */
  end(): void {
    if (this.#take().trim() === '') return;
    throw new TransportError('the stream ended within an event', { code: 'ETRUNCATED' });
  }

  #hold(part: Buffer): void {
    this.#pendingBytes += part.byteLength;
    if (this.#pendingBytes > this.#maxLineBytes) {
      throw new TransportError(`an event is longer than ${this.#maxLineBytes} bytes`, {
        code: 'EMSGSIZE',
      });
    }
    if (part.byteLength > 0) this.#pending.push(part);
  }

  #take(): string {
    const [first, ...more] = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (first === undefined) return '';
    return more.length === 0 ? first.toString() : Buffer.concat([first, ...more]).toString();
  }
}

/**
 * The event of one line. Throws `ApiStatusError` for ERROR, `TransportError` for an invalid event.
 */
export function watchEventOf<T extends KubeObject>(line: string): WatchEvent<Stored<T>> {
  const { type, object } = parsed(line);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      if (!isStored(object)) throw malformed(line);
      return { type, object: object as Stored<T> };
    case 'BOOKMARK':
      if (!isVersioned(object)) throw malformed(line);
      return {
        type,
        resourceVersion: object.metadata.resourceVersion,
        initialEventsEnd: object.metadata.annotations?.[INITIAL_EVENTS_END] === 'true',
      };
    case 'ERROR':
      throw refusalOfObject(object);
    default:
      throw malformed(line);
  }
}

function parsed(line: string): { readonly type?: unknown; readonly object?: unknown } {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : {};
  } catch (error) {
    throw malformed(line, error);
  }
}

function isVersioned(object: unknown): object is {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly name?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
} {
  if (typeof object !== 'object' || object === null || !('metadata' in object)) return false;
  const { metadata } = object;
  return (
    typeof metadata === 'object' &&
    metadata !== null &&
    'resourceVersion' in metadata &&
    typeof metadata.resourceVersion === 'string'
  );
}

function isStored(object: unknown): boolean {
  return isVersioned(object) && typeof object.metadata.name === 'string';
}

const MAX_QUOTED_CHARACTERS = 200;

function malformed(line: string, cause?: unknown): TransportError {
  const quoted =
    line.length > MAX_QUOTED_CHARACTERS ? `${line.slice(0, MAX_QUOTED_CHARACTERS)}...` : line;
  return new TransportError(`this is no watch event: ${quoted}`, { code: 'EBADMSG', cause });
}
