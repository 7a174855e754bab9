/** Watches: the stream of changes to selected objects. */

import type { Clock, Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import { expired } from '@lockstep/kube/status-errors.ts';
import type { Representation } from '../http/content-negotiation.ts';
import { type EventType, encodeBookmark, encodeEvent, eventLine } from '../http/encode.ts';
import type { OpenStreams } from '../http/open-streams.ts';
import type { Change } from '../resources/collection.ts';
import type { Entry } from '../resources/entry.ts';
import type { ServedResource } from '../resources/served-resource.ts';
import type { Selection } from './selection.ts';

export interface WatchRequest {
  readonly of: ServedResource;
  readonly as: Representation;
  readonly selection: Selection;
  readonly start: WatchStart;
  readonly wantsBookmarks: boolean;
  /** Whether a bookmark after the initial events marks their end. */
  readonly announcesInitialEnd: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly streams: OpenStreams;
  readonly clock: Clock;
}

/**
 * `State`: begins with the present objects as ADDED events. `After`: only changes after a revision.
 */
export type WatchStart =
  | { readonly from: 'State' }
  | { readonly from: 'After'; readonly revision: number };

/**
 * A watch as lines of JSON. Initial entries are read from memory as fast as the client takes them,
 * while changes wait in a bounded queue. A client whose queue overflows is cut off and resumes from
 * its last revision, so that it holds up no other client.
 */
export function watch(request: WatchRequest): AsyncIterable<Uint8Array> {
  const { collection } = request.of;
  if (request.start.from === 'State') {
    return new Watch(request, collection.entries(request.selection.prefix), []).lines();
  }
  const { revision } = request.start;
  const missed = collection.changesSince(revision);
  return missed === undefined
    ? expiredWatch(`too old resource version: ${revision} (${collection.revision})`)
    : new Watch(request, [], missed).lines();
}

/** How many changes a watcher may be behind before it is cut off. */
export const WATCH_QUEUE_LIMIT = 8_192;
/** How often a watcher that wants bookmarks gets one. */
export const BOOKMARK_INTERVAL_MS = 60_000;

/** If the history does not reach the start, the stream says so, as kube-apiserver's cache does. */
async function* expiredWatch(why: string): AsyncGenerator<Uint8Array> {
  yield eventLine('ERROR', Buffer.from(JSON.stringify(expired(why).status)));
}

class Watch {
  readonly #request: WatchRequest;
  readonly #initial: readonly Entry[];
  /** The revision that the initial entries show. */
  readonly #initialRevision: number;
  #queue: Change[];
  /**
   * Set when the watch ends: the client will have seen this revision after the queue is drained.
   */
  #finalRevision: number | undefined;
  #isBookmarkDue = false;
  #hasColumns = false;
  #wake: () => void = () => undefined;
  #bookmarkTimer: Timer | undefined;
  readonly #timeout: Timer;
  readonly #unsubscribe: () => void;
  #forget: () => void = () => undefined;

  constructor(request: WatchRequest, initial: readonly Entry[], missed: readonly Change[]) {
    this.#request = request;
    this.#initial = initial;
    this.#initialRevision = request.of.collection.revision;
    this.#queue = missed.filter((change) => change.key.startsWith(request.selection.prefix));
    this.#unsubscribe = request.of.collection.subscribe(
      (change) => this.#enqueue(change),
      () => this.#end(),
    );
    this.#timeout = request.clock.setTimer(request.timeoutMs, () => this.#end());
    if (request.wantsBookmarks) this.#scheduleBookmark();
    this.#forget = request.streams.add(this.#cutOff);
    request.signal.addEventListener('abort', this.#cutOff, { once: true });
    if (request.signal.aborted || request.streams.isClosed) this.#cutOff();
  }

  async *lines(): AsyncGenerator<Uint8Array> {
    const { of, as, selection, announcesInitialEnd } = this.#request;
    try {
      for (const entry of this.#initial) {
        if (this.#isCutOff()) return;
        if (selection.matches(entry)) yield this.#line('ADDED', entry, undefined);
      }
      if (announcesInitialEnd) yield encodeBookmark(of, as, this.#initialRevision, true);
      yield* this.#changes();
    } finally {
      this.#cutOff();
    }
  }

  async *#changes(): AsyncGenerator<Uint8Array> {
    const { of, as, wantsBookmarks } = this.#request;
    for (;;) {
      while (this.#queue.length > 0) {
        const changes = this.#queue;
        this.#queue = [];
        for (const change of changes) {
          if (this.#isCutOff()) return;
          const line = this.#seenAs(change);
          if (line !== undefined) yield line;
        }
      }
      if (this.#isCutOff()) return;
      // Nothing waits, so the client has seen everything up to the present revision.
      const isOver = this.#finalRevision !== undefined;
      if (wantsBookmarks && (this.#isBookmarkDue || isOver)) {
        this.#isBookmarkDue = false;
        const revision = this.#finalRevision ?? of.collection.revision;
        yield encodeBookmark(of, as, revision, false);
      }
      if (isOver) return;
      if (this.#isIdle()) await this.#somethingHappens();
    }
  }

  /** The change as this watcher sees it: objects enter and leave its selection. */
  #seenAs(change: Change): Uint8Array | undefined {
    const { selection } = this.#request;
    const { entry, previous } = change;
    const was = previous !== undefined && selection.matches(previous);
    if (entry !== undefined && selection.matches(entry)) {
      return this.#line(was ? 'MODIFIED' : 'ADDED', entry, change);
    }
    const departed = was ? change.departed : undefined;
    return departed === undefined ? undefined : this.#line('DELETED', departed, change);
  }

  #line(type: EventType, entry: Entry, change: Change | undefined): Uint8Array {
    const { of, as, clock } = this.#request;
    const withColumns = as.form === 'Table' && !this.#hasColumns;
    this.#hasColumns = true;
    return encodeEvent(of, as, { type, entry, change }, clock.now(), withColumns);
  }

  #enqueue(change: Change): void {
    if (!change.key.startsWith(this.#request.selection.prefix)) return;
    if (this.#queue.length >= WATCH_QUEUE_LIMIT) {
      this.#cutOff();
      return;
    }
    this.#queue.push(change);
    this.#wake();
  }

  #scheduleBookmark(): void {
    this.#bookmarkTimer = this.#request.clock.setTimer(BOOKMARK_INTERVAL_MS, () => {
      this.#isBookmarkDue = true;
      this.#scheduleBookmark();
      this.#wake();
    });
  }

  #isIdle(): boolean {
    return this.#queue.length === 0 && !this.#isBookmarkDue && this.#finalRevision === undefined;
  }

  #somethingHappens(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Lets the client read what waits in the queue, and then ends. */
  #end(): void {
    if (this.#finalRevision !== undefined) return;
    this.#finalRevision = this.#request.of.collection.revision;
    this.#unsubscribe();
    this.#timeout.cancel();
    this.#bookmarkTimer?.cancel();
    this.#forget();
    this.#request.signal.removeEventListener('abort', this.#cutOff);
    this.#wake();
  }

  /** Ends without another line: the client has gone, or is too slow. */
  readonly #cutOff = (): void => {
    this.#end();
    this.#queue = [];
    this.#finalRevision = CUT_OFF;
  };

  #isCutOff(): boolean {
    return this.#finalRevision === CUT_OFF;
  }
}

const CUT_OFF = -1;
