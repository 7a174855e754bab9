/**
 * Streams of `exec` and `attach` over SPDY, as API servers and older clients open them: one for
 * each of stdin, stdout, stderr and the size of the terminal, and one for the outcome.
 */
import { endsWithin } from '@lockstep/kube/runtime/deadline.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { ByteChannel } from '@lockstep/kube/runtime/ports/transport.ts';
import {
  outcomeStatus,
  type RemoteEvent,
  type RemoteStreams,
  resizeOf,
  type StreamOptions,
} from './remote-streams.ts';
import type { ServerSession, SpdyStream } from './spdy/server-session.ts';

export const SPDY_PROTOCOL = 'v4.channel.k8s.io';

/** For the client to open all of them. */
const OPEN_TIMEOUT_MS = 30_000;
/** The limit for one message of the stream of sizes. */
const MAX_RESIZE_BYTES = 1024;

type StreamType = 'error' | 'stdin' | 'stdout' | 'stderr' | 'resize';

export class SpdyStreams {
  readonly #wanted: ReadonlySet<string>;
  readonly #streams = new Map<string, ByteChannel>();
  readonly #complete: Promise<void>;
  #resolve: () => void = () => undefined;

  constructor(options: StreamOptions) {
    const { input, output, error, tty } = options;
    const wanted: readonly (readonly [StreamType, boolean])[] = [
      ['error', true],
      ['stdin', input],
      ['stdout', output],
      ['stderr', error],
      ['resize', tty],
    ];
    this.#wanted = new Set(wanted.flatMap(([type, isWanted]) => (isWanted ? [type] : [])));
    this.#complete = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  add({ headers, channel }: SpdyStream): void {
    const { streamtype: type = '' } = headers;
    if (!this.#wanted.has(type) || this.#streams.has(type)) {
      channel.destroy();
      return;
    }
    this.#streams.set(type, channel);
    if (this.#streams.size === this.#wanted.size) this.#resolve();
  }

  /** Undefined if the client did not open them in time. */
  async opened(
    clock: Clock,
    session: ServerSession,
    gone: AbortSignal,
  ): Promise<RemoteStreams | undefined> {
    if (!(await endsWithin(clock, OPEN_TIMEOUT_MS, this.#complete))) return undefined;
    const streams = this.#streams;
    return {
      events: events(streams.get('stdin'), streams.get('resize'), gone),
      send: async (stream, chunk) => streams.get(stream)?.write(chunk),
      finish: async (outcome) => {
        await streams.get('error')?.write(Buffer.from(JSON.stringify(outcomeStatus(outcome))));
        for (const channel of streams.values()) channel.end();
        await session.end();
      },
    };
  }
}

/** Events of both streams, until the client goes. */
async function* events(
  stdin: ByteChannel | undefined,
  resize: ByteChannel | undefined,
  gone: AbortSignal,
): AsyncGenerator<RemoteEvent, void> {
  const queue: RemoteEvent[] = [];
  let wake: () => void = () => undefined;
  let takeNext: () => void = () => undefined;
  const put = (event: RemoteEvent): Promise<void> => {
    queue.push(event);
    wake();
    return new Promise((resolve) => {
      takeNext = resolve;
    });
  };
  gone.addEventListener('abort', () => wake(), { once: true });
  void follow(stdin, put);
  void followSizes(resize, (event) => {
    queue.push(event);
    wake();
  });
  while (!gone.aborted) {
    const next = queue.shift();
    if (next !== undefined) {
      yield next;
      if (next.type !== 'resize') takeNext();
    } else {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
}

async function follow(
  stdin: ByteChannel | undefined,
  put: (event: RemoteEvent) => Promise<void>,
): Promise<void> {
  if (stdin === undefined) return;
  try {
    for await (const chunk of stdin.incoming) await put({ type: 'stdin', chunk });
    await put({ type: 'stdin-end' });
  } catch {
    // The client has gone, which its connection reports.
  }
}

/** One JSON object after the other, each on its own line or not. */
async function followSizes(
  resize: ByteChannel | undefined,
  put: (event: RemoteEvent) => void,
): Promise<void> {
  if (resize === undefined) return;
  let text = '';
  try {
    for await (const chunk of resize.incoming) {
      text = (text + Buffer.from(chunk).toString()).slice(-MAX_RESIZE_BYTES);
      const objects = text.match(/\{[^}]*\}/g) ?? [];
      text = text.slice(text.lastIndexOf('}') + 1);
      for (const object of objects) {
        const event = resizeOf(Buffer.from(object));
        if (event !== undefined) put(event);
      }
    }
  } catch {
    // As above.
  }
}
