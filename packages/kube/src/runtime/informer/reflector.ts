/**
 * Keeps a copy of a collection up to date, for as long as it is not stopped: loads it, watches from
 * there, and after any failure continues from the best point that is left. A state machine:
 *
 *   listing | streaming -> watching -> watching (resumed from the last version)
 *                              |-> listing | streaming (that version is gone: 410, or refused)
 *
 * Whatever a server answers, and however connections end, it tries again, with back-off.
 */

import type { KubeList, KubeObject, Stored } from '../../meta.ts';
import { ApiStatusError } from '../../status.ts';
import { Backoff } from '../backoff.ts';
import type { ListOptions, WatchEvent, WatchOptions } from '../client/client.ts';
import { boundedPages, isTooLong } from '../client/pages.ts';
import { isVersionGone } from '../client/version-gone.ts';
import { DeadlineError } from '../deadline.ts';
import { pause, sleep } from '../ports/clock.ts';
import { jitter } from '../ports/random.ts';
import type { RuntimePorts } from '../ports/runtime-ports.ts';
import { keyOf } from './informer.ts';
import type { ObjectEvent } from './object-store.ts';

/** The source of the collection: a client, a resource and its selectors. */
export interface ReflectorSource<T extends KubeObject> {
  list(options: ListOptions): Promise<KubeList<Stored<T>>>;
  watch(options: WatchOptions): AsyncIterable<WatchEvent<Stored<T>>>;
}

/** The receiver of the collection. Calls come one at a time, in order. */
export interface ReflectorSink<T extends KubeObject> {
  /** The version up to which everything was received. */
  readonly resourceVersion: string;
  replace(objects: readonly Stored<T>[], resourceVersion: string): void;
  apply(event: ObjectEvent<T>): void;
  advance(resourceVersion: string): void;
}

export interface ReflectorOptions<T extends KubeObject> extends RuntimePorts {
  readonly source: ReflectorSource<T>;
  readonly sink: ReflectorSink<T>;
  /** The part of an object to keep; the rest is dropped page by page. */
  readonly transform: (object: Stored<T>) => Stored<T>;
  /**
   * How the collection is loaded: in pages, or as the beginning of the watch (`sendInitialEvents`),
   * which is lighter for large servers that support it. If one does not, pages are used instead.
   */
  readonly load: 'pages' | 'stream';
  /** Called for every failure, so that a waiting caller can report why. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

type ReflectorState<T extends KubeObject> =
  /** Loading in pages, or in one piece. */
  | { readonly phase: 'listing'; readonly isPaged: boolean }
  /** Loading as the beginning of a watch. */
  | { readonly phase: 'streaming' }
  /** Following, over the open watch or one that resumes from the sink's version. */
  | { readonly phase: 'watching'; readonly opened?: OpenWatch<T> };

interface OpenWatch<T extends KubeObject> {
  readonly events: AsyncIterator<WatchEvent<Stored<T>>>;
  readonly openedAt: number;
  /** Ends it; a pending `next` rejects with `reason`. Harmless when it has ended. */
  close(reason?: Error): void;
}

/** Two million objects, or some thousands of the largest: a server that never ends a list has a fault. */
const MAX_LIST_PAGES = 4_000;

/** After this time the server ends a watch, so that clients spread over servers again. */
const WATCH_TIMEOUT_SECONDS = 290;
const WATCH_TIMEOUT_JITTER = 0.1;

/** After this time the server has forgotten the watch, or the connection is dead. */
const WATCH_OVERTIME_MS = 5_000;

/** A server that knows `sendInitialEvents` marks their end within this time. */
const INITIAL_EVENTS_TIMEOUT_MS = 60_000;

/** A watch that ends sooner counts as a failure, even if it ended properly. */
const SHORTEST_WATCH_MS = 1_000;

/** After a watch of this length, the next failure counts as a first one. */
const HEALTHY_WATCH_MS = 10_000;

const RECONNECT_BACKOFF = { baseMs: 200, maxMs: 30_000, jitterFactor: 1 } as const;

/** How many events are handled before other work gets a turn: a few milliseconds. */
const EVENTS_PER_TURN = 250;

export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #backoff: Backoff;
  #load: 'pages' | 'stream';
  /** Ends the open watch, or the wait before the next try. */
  #hurry: () => void = () => undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#backoff = new Backoff(options.random, RECONNECT_BACKOFF);
    this.#load = options.load;
  }

  /** Continues over a new watch at once, even if the last try has failed. */
  reconnect(): void {
    this.#backoff.reset();
    this.#hurry();
  }

  /** Resolves when the signal has aborted and the last request has ended. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { logger, onFailure } = this.#options;
    let state = this.#loading();
    while (!signal.aborted) {
      try {
        state = await this.#step(state, signal);
      } catch (error) {
        if (signal.aborted) return;
        const retryInMs = Math.round(this.#backoff.next());
        logger.warn(`${state.phase} failed`, { err: error, retryInMs });
        onFailure?.(error);
        state = this.#after(state, error);
        await pause(this.#options.clock, retryInMs, signal, (wake) => {
          this.#hurry = wake;
        });
      }
    }
  }

  #loading(): ReflectorState<T> {
    return this.#load === 'stream' ? { phase: 'streaming' } : { phase: 'listing', isPaged: true };
  }

  async #step(state: ReflectorState<T>, signal: AbortSignal): Promise<ReflectorState<T>> {
    switch (state.phase) {
      case 'listing':
        await this.#list(state.isPaged, signal);
        return { phase: 'watching' };
      case 'streaming':
        return { phase: 'watching', opened: await this.#stream(signal) };
      case 'watching':
        await this.#follow(state.opened ?? this.#open(signal), signal);
        return { phase: 'watching' };
    }
  }

  /** The state to continue from after a failure. */
  #after(state: ReflectorState<T>, error: unknown): ReflectorState<T> {
    switch (state.phase) {
      case 'listing':
        // The version of the first page expired before the last page was read: read all at once.
        if (isVersionGone(error)) return { phase: 'listing', isPaged: false };
        return isTooLong(error) ? { phase: 'listing', isPaged: true } : state;
      case 'streaming':
        if (isRefusal(error) || error instanceof DeadlineError) this.#load = 'pages';
        return this.#loading();
      case 'watching':
        return isVersionGone(error) || isRefusal(error) ? this.#loading() : { phase: 'watching' };
    }
  }

  /** Lists without a resourceVersion are current, not from a cache. */
  async #list(isPaged: boolean, signal: AbortSignal): Promise<void> {
    const { source, sink, transform } = this.#options;
    const objects: Stored<T>[] = [];
    let resourceVersion = '';
    let pages = 0;
    for await (const { items, metadata } of isPaged
      ? boundedPages((page) => source.list({ ...page, signal }))
      : [await source.list({ signal })]) {
      if (pages > 0) await this.#giveTurn(signal);
      for (const object of items) objects.push(transform(object));
      resourceVersion = metadata.resourceVersion ?? '';
      pages++;
      if (pages > MAX_LIST_PAGES) {
        throw new RangeError(`the list has not ended after ${MAX_LIST_PAGES} pages`);
      }
    }
    sink.replace(objects, resourceVersion);
  }

  async #stream(signal: AbortSignal): Promise<OpenWatch<T>> {
    const { sink, clock, transform } = this.#options;
    const opened = this.#open(signal, {
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
    });
    const timer = clock.setTimer(INITIAL_EVENTS_TIMEOUT_MS, () =>
      opened.close(new DeadlineError('the server does not end the initial events')),
    );
    try {
      const objects = new Map<string, Stored<T>>();
      for (let count = 1; ; count++) {
        const { done, value: event } = await opened.events.next();
        if (done === true) throw new Error('the watch ended within the initial events');
        if (event.type === 'BOOKMARK') {
          if (!event.initialEventsEnd) continue;
          sink.replace([...objects.values()], event.resourceVersion);
          return opened;
        }
        if (event.type === 'DELETED') objects.delete(keyOf(event.object));
        else objects.set(keyOf(event.object), transform(event.object));
        if (count % EVENTS_PER_TURN === 0) await this.#giveTurn(signal);
      }
    } catch (error) {
      opened.close();
      throw error;
    } finally {
      timer.cancel();
    }
  }

  /** Takes events until the watch ends. Rejects if it failed, or ended too soon. */
  async #follow(opened: OpenWatch<T>, signal: AbortSignal): Promise<void> {
    const { sink, clock, transform } = this.#options;
    const age = (): number => clock.monotonic() - opened.openedAt;
    this.#hurry = () => opened.close(new DeadlineError('another watch is wanted'));
    try {
      for (let count = 1; ; count++) {
        const { done, value: event } = await opened.events.next();
        if (done === true) break;
        if (event.type === 'BOOKMARK') sink.advance(event.resourceVersion);
        else sink.apply({ ...event, object: transform(event.object) });
        if (count % EVENTS_PER_TURN === 0) await this.#giveTurn(signal);
      }
      if (age() < SHORTEST_WATCH_MS) throw new Error(`the server ended the watch at once`);
    } catch (error) {
      // We ended it: the connection may be dead, and what it missed comes with the next one.
      if (!(error instanceof DeadlineError)) throw error;
    } finally {
      if (age() >= HEALTHY_WATCH_MS) this.#backoff.reset();
      opened.close();
    }
  }

  #open(signal: AbortSignal, initial: WatchOptions = this.#resumption()): OpenWatch<T> {
    const { source, clock, random } = this.#options;
    const timeoutSeconds = Math.floor(jitter(random, WATCH_TIMEOUT_SECONDS, WATCH_TIMEOUT_JITTER));
    const controller = new AbortController();
    const stop = (): void => controller.abort(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    const overtimeMs = timeoutSeconds * 1_000 + WATCH_OVERTIME_MS;
    const timer = clock.setTimer(overtimeMs, () =>
      controller.abort(new DeadlineError(`the watch did not end within ${overtimeMs} ms`)),
    );
    const watch = source.watch({
      ...initial,
      allowWatchBookmarks: true,
      timeoutSeconds,
      signal: controller.signal,
    });
    const events = watch[Symbol.asyncIterator]();
    return {
      events,
      openedAt: clock.monotonic(),
      close(reason = new Error('the reader is done')): void {
        timer.cancel();
        signal.removeEventListener('abort', stop);
        controller.abort(reason);
        // Not awaited: a generator that waits for something answers `return` only after that.
        events.return?.().catch(() => undefined);
      },
    };
  }

  #resumption(): WatchOptions {
    return { resourceVersion: this.#options.sink.resourceVersion };
  }

  #giveTurn(signal: AbortSignal): Promise<void> {
    return sleep(this.#options.clock, 0, signal);
  }
}

/** The request itself was wrong for this server, so that repeating it is useless. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof ApiStatusError)) return false;
  const { code } = error;
  return code >= 400 && code < 500 && !MAY_PASS.has(code);
}

/** Refusals that an administrator or time may end: 401, 403, 408, 429. For 410 see `#after`. */
const MAY_PASS: ReadonlySet<number> = new Set([401, 403, 408, 410, 429]);
