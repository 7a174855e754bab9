/**
 * Follows one JobSet over the API, in a closed set of phases. `Streaming` asks for the initial
 * state and all changes in one watch; `Listing` is the fallback for servers that cannot; `Resuming`
 * continues from a version. It starts over only if that version is too old, or if a restore of the API
 * has lost it. It retries for ever: an unreachable API stops no worker, so it must not stop the
 * agent.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import { isOlder } from '@lockstep/kube/resource-version.ts';
import { Backoff } from '@lockstep/kube/runtime/backoff.ts';
import type { WatchEvent } from '@lockstep/kube/runtime/client/client.ts';
import { isVersionGone } from '@lockstep/kube/runtime/client/version-gone.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { jitter } from '@lockstep/kube/runtime/ports/random.ts';
import type { ClientPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import { JOBSETS, type JobSet } from '../jobset/jobset.ts';

export interface FollowerOptions extends ClientPorts {
  readonly namespace: string;
  readonly name: string;
  /** Called with each state of the JobSet, in order; a fresh one was read consistently. */
  readonly seen: (jobSet: Stored<JobSet>, isFresh: boolean) => void;
  readonly signal: AbortSignal;
}

type Phase =
  | { readonly name: 'Streaming' }
  | { readonly name: 'Listing' }
  | { readonly name: 'Resuming'; readonly from: string };

/** The server ends a watch after this time, plus jitter, so that they do not all end together. */
const WATCH_TIMEOUT_SECONDS = 290;
/** The client waits this much longer before it ends a watch that the server has not ended. */
const WATCH_OVERTIME_MS = 15_000;
/** Servers that stream initial states end them at once. Others ignore the option, and never do. */
const INITIAL_EVENTS_TIMEOUT_MS = 10_000;
const BACKOFF = { baseMs: 100, maxMs: 30_000, jitterFactor: 1 } as const;
/** A watch that lived this long was healthy, so the next failure counts as a first one. */
const HEALTHY_MS = 10_000;

export async function followJobSet(options: FollowerOptions): Promise<void> {
  const { clock, random, signal, logger } = options;
  let phase: Phase = { name: 'Streaming' };
  let canStream = true;
  const backoff = new Backoff(random, BACKOFF);
  while (!signal.aborted) {
    const startedAt = clock.monotonic();
    const attempt = new Attempt(options, phase);
    try {
      await attempt.run();
    } catch (error) {
      if (signal.aborted) return;
      const mustStartAnew = error instanceof OtherHistoryError || isVersionGone(error);
      if (error instanceof NoStreamingError) canStream = false;
      else if (!mustStartAnew) {
        logger.warn('following the JobSet was interrupted', { err: messageOf(error) });
      }
      if (mustStartAnew) attempt.version = undefined;
    }
    const from = attempt.version;
    if (from !== undefined) phase = { name: 'Resuming', from };
    else phase = canStream ? { name: 'Streaming' } : { name: 'Listing' };
    if (clock.monotonic() - startedAt >= HEALTHY_MS) backoff.reset();
    // Without a pause, a server that closes each watch at once would be asked without end.
    await sleep(clock, backoff.next(), signal).catch(() => undefined);
  }
}

/** The server does not stream the initial state of a watch. */
class NoStreamingError extends Error {
  override readonly name = 'NoStreamingError';
}

/** The server shows an older state than before: it was restored from a copy. */
class OtherHistoryError extends Error {
  override readonly name = 'OtherHistoryError';
}

/** One list or one watch, until it ends. */
class Attempt {
  /** The version up to which everything was seen; undefined: nothing consistent yet. */
  version: string | undefined;
  readonly #options: FollowerOptions;
  readonly #phase: Phase;

  constructor(options: FollowerOptions, phase: Phase) {
    this.#options = options;
    this.#phase = phase;
    this.version = phase.name === 'Resuming' ? phase.from : undefined;
  }

  async run(): Promise<void> {
    switch (this.#phase.name) {
      case 'Streaming':
        return this.#stream();
      case 'Listing':
        return this.#list();
      case 'Resuming':
        return this.#watch({ resourceVersion: this.#phase.from }, (event) => this.#take(event));
    }
  }

  /** The states before the bookmark may be older than the call, so only the last one counts. */
  async #stream(): Promise<void> {
    let initial: Stored<JobSet> | undefined;
    const { clock } = this.#options;
    const giveUp = new AbortController();
    const timer = clock.setTimer(INITIAL_EVENTS_TIMEOUT_MS, () => {
      giveUp.abort(new NoStreamingError('no end of the initial events'));
    });
    const query = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } as const;
    try {
      await this.#watch(
        query,
        (event) => {
          if (this.version !== undefined) this.#take(event);
          else if (event.type === 'BOOKMARK') {
            if (!event.initialEventsEnd) return;
            timer.cancel();
            this.version = event.resourceVersion;
            if (initial !== undefined) this.#options.seen(initial, true);
          } else initial = event.type === 'DELETED' ? undefined : event.object;
        },
        giveUp.signal,
      );
    } catch (error) {
      if (this.version === undefined && isRefusal(error)) {
        throw new NoStreamingError(messageOf(error), { cause: error });
      }
      throw error;
    } finally {
      timer.cancel();
    }
  }

  /** A list without a version is answered from the storage itself. */
  async #list(): Promise<void> {
    const { client, namespace, seen, signal } = this.#options;
    const fieldSelector = this.#selector();
    const { items, metadata } = await client.list(JOBSETS, { namespace, fieldSelector, signal });
    for (const item of items) seen(item, true);
    this.version = metadata.resourceVersion;
    if (this.version === undefined) return;
    await this.#watch({ resourceVersion: this.version }, (event) => this.#take(event));
  }

  #take(event: WatchEvent<Stored<JobSet>>): void {
    const version =
      event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
    if (this.version !== undefined && isOlder(version, this.version)) {
      throw new OtherHistoryError(`version ${version} came after ${this.version}`);
    }
    this.version = version;
    if (event.type === 'DELETED') this.#options.logger.info('the JobSet was deleted');
    else if (event.type !== 'BOOKMARK') this.#options.seen(event.object, false);
  }

  async #watch(
    query: {
      readonly resourceVersion?: string;
      readonly sendInitialEvents?: true;
      readonly resourceVersionMatch?: 'NotOlderThan';
    },
    take: (event: WatchEvent<Stored<JobSet>>) => void,
    giveUp?: AbortSignal,
  ): Promise<void> {
    const { client, clock, random, namespace, signal } = this.#options;
    const timeoutSeconds = Math.round(jitter(random, WATCH_TIMEOUT_SECONDS, 0.1));
    const overdue = new AbortController();
    const timer = clock.setTimer(timeoutSeconds * 1000 + WATCH_OVERTIME_MS, () => {
      overdue.abort(new Error('the server did not end the watch in time'));
    });
    const signals = [signal, overdue.signal, ...(giveUp === undefined ? [] : [giveUp])];
    try {
      const events = client.watch(JOBSETS, {
        ...query,
        namespace,
        fieldSelector: this.#selector(),
        allowWatchBookmarks: true,
        timeoutSeconds,
        signal: AbortSignal.any(signals),
      });
      for await (const event of events) take(event);
    } finally {
      timer.cancel();
    }
  }

  #selector(): string {
    return `metadata.name=${this.#options.name}`;
  }
}

/** How servers answer a parameter that they do not know or do not allow. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiStatusError && (error.code === 400 || error.code === 422);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
