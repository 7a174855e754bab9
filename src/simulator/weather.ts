/** The network between one process and the API server, and what the API server makes of it. */
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { jitter, type Random } from '@lockstep/kube/runtime/ports/random.ts';
import {
  type HttpRequest,
  type HttpResponse,
  type Transport,
  TransportError,
} from '@lockstep/kube/runtime/ports/transport.ts';

const LATENCY_MS = 1;
/** Each way takes longer by up to this many times, so that answers overtake each other. */
const LATENCY_JITTER = 2;

/** What is wrong at the moment; in fair weather nothing is. */
export interface Faults {
  /** One way, for requests and answers. */
  readonly latencyMs: number;
  /** Nothing gets through, in either direction. */
  readonly isCut: boolean;
  /** The server answers all requests with this code. */
  readonly refusal: 429 | 500 | undefined;
  /** Writes are carried out, and their answers lost. */
  readonly losesAnswers: boolean;
  /** Events of watches come this much later. */
  readonly watchDelayMs: number;
  /** Watches stay open, and nothing comes over them. */
  readonly stallsWatches: boolean;
}

const FAIR: Faults = {
  latencyMs: LATENCY_MS,
  isCut: false,
  refusal: undefined,
  losesAnswers: false,
  watchDelayMs: 0,
  stallsWatches: false,
};

type WatchEnd = 'Closed' | 'Gone';

export class Weather {
  #faults: Faults = FAIR;
  readonly #open = new Set<Partial<Faults>>();
  readonly #watches = new Set<(how: WatchEnd) => void>();
  readonly #random: Random;
  /** Called before and after the server carries out a write; a process may die there. */
  onWrite: (when: 'Before' | 'After', request: HttpRequest) => void = () => undefined;
  #changed: { readonly promise: Promise<void>; readonly tell: () => void } = signalled();

  constructor(random: Random) {
    this.#random = random;
  }

  /** Begins a fault beside those that there are. Returns what ends it alone. */
  begin(fault: Partial<Faults>): () => void {
    const own = { ...fault };
    this.#open.add(own);
    this.#change();
    return () => {
      this.#open.delete(own);
      this.#change();
    };
  }

  /** The later one counts if two faults are of a kind. */
  #change(): void {
    this.#faults = Object.assign({}, FAIR, ...this.#open) as Faults;
    this.#changed.tell();
    this.#changed = signalled();
  }

  /** Ends all watches: cleanly, or with the message that their version is too old. */
  endWatches(how: WatchEnd): void {
    for (const end of this.#watches) end(how);
  }

  async send(request: HttpRequest, server: Transport, clock: Clock): Promise<HttpResponse> {
    const { signal } = request;
    await this.#way(clock, signal);
    const { refusal } = this.#faults;
    if (refusal !== undefined) return refusedWith(refusal);
    const isWrite = request.method !== 'GET';
    if (isWrite) this.onWrite('Before', request);
    const response = await server.send(request);
    if (isWrite) this.onWrite('After', request);
    if (!(response.body instanceof Uint8Array)) {
      return { ...response, body: this.#watched(response.body, signal, clock) };
    }
    if (this.#faults.losesAnswers && isWrite) {
      throw new TransportError('the answer was lost', { code: 'ECONNRESET' });
    }
    await this.#way(clock, signal);
    return response;
  }

  async #way(clock: Clock, signal: AbortSignal): Promise<void> {
    await sleep(clock, jitter(this.#random, this.#faults.latencyMs, LATENCY_JITTER), signal);
    await this.#through(signal);
  }

  /** Waits until the network is whole, or the request is given up. */
  async #through(signal: AbortSignal, isWatch = false): Promise<void> {
    while (this.#faults.isCut || (isWatch && this.#faults.stallsWatches)) {
      const { promise } = this.#changed;
      await orAborted(promise, signal);
    }
  }

  async *#watched(
    body: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
    clock: Clock,
  ): AsyncIterable<Uint8Array> {
    const arrived: { readonly chunk: Uint8Array | undefined; readonly atMs: number }[] = [];
    let news = signalled();
    let ended: WatchEnd | undefined;
    const end = (how: WatchEnd): void => {
      ended = how;
      news.tell();
    };
    this.#watches.add(end);
    // Watches are late independently: one may show old objects of its kind beside new ones of others.
    let share: number | undefined;
    const delayMs = (): number => {
      const { watchDelayMs } = this.#faults;
      if (watchDelayMs === 0) return 0;
      share ??= this.#random.next();
      return share * watchDelayMs;
    };
    const chunks = body[Symbol.asyncIterator]();
    const take = (chunk: Uint8Array | undefined): void => {
      arrived.push({ chunk, atMs: clock.monotonic() });
      news.tell();
    };
    const read = async (): Promise<void> => {
      for (;;) {
        const next = await chunks.next();
        if (next.done === true) return take(undefined);
        take(next.value);
      }
    };
    read().catch(() => take(undefined));
    try {
      for (;;) {
        if (ended === 'Gone') yield TOO_OLD;
        if (ended !== undefined) return;
        const next = arrived[0];
        if (next === undefined) {
          news = signalled();
          await orAborted(news.promise, signal);
          continue;
        }
        const waitMs = next.atMs + delayMs() - clock.monotonic();
        if (waitMs > 0) await sleep(clock, waitMs, signal);
        await this.#through(signal, true);
        if (ended !== undefined) continue;
        arrived.shift();
        if (next.chunk === undefined) return;
        yield next.chunk;
      }
    } finally {
      this.#watches.delete(end);
      void chunks.return?.();
    }
  }
}

function signalled(): { readonly promise: Promise<void>; readonly tell: () => void } {
  let tell = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    tell = resolve;
  });
  return { promise, tell };
}

function orAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    void promise.then(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
  });
}

const TOO_OLD = encoded({
  type: 'ERROR',
  object: {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code: 410,
    reason: 'Expired',
    message: 'too old resource version',
  },
});

function refusedWith(code: 429 | 500): HttpResponse {
  const reason = code === 429 ? 'TooManyRequests' : 'InternalError';
  return {
    status: code,
    headers: { 'content-type': 'application/json', ...(code === 429 && { 'retry-after': '1' }) },
    body: encoded({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason }),
  };
}

function encoded(value: object): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(value)}\n`);
}
