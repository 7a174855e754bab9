/** Writes `events.k8s.io/v1` Events in the background. */

import { cutToBytes } from '../../cut-to-bytes.ts';
import { defined } from '../../json/defined.ts';
import type { KubeObject } from '../../meta.ts';
import { EVENTS, type Event, type ObjectReference } from '../../objects/event.ts';
import { type Resource, typeMetaOf } from '../../resource.ts';
import { ApiStatusError, isReason } from '../../status.ts';
import { endsWithin, withDeadline } from '../deadline.ts';
import { microTimestamp } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { ClientPorts } from '../ports/runtime-ports.ts';
import { createWorkQueue, type WorkQueue } from './work-queue.ts';

/**
 * A repeat within six minutes adds to the series of the first Event instead of making another. The
 * caller is never delayed and never fails: an Event that cannot be written after a few tries is
 * dropped and logged.
 */
export interface EventRecorder {
  record(event: RecordedEvent): void;
  /** Writes what is pending, for at most a second. */
  stop(): Promise<void>;
}

export interface RecordedEvent {
  readonly regarding: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  /** The reason in CamelCase: `SuccessfulCreate`. */
  readonly reason: string;
  /** The controller's action in CamelCase: `Reconciling`. */
  readonly action: string;
  /** Plain text, never a format; cut to the API's limit. */
  readonly note: string;
}

export interface EventRecorderOptions extends ClientPorts {
  /** For example `jobset`; becomes `reportingController` and the default `reportingInstance`. */
  readonly controller: string;
  readonly instance?: string;
  /** When it aborts, pending Events are dropped and no more are written. */
  readonly signal?: AbortSignal | undefined;
}

/** After this silence the next occurrence starts an Event of its own, as in client-go. */
const SERIES_WINDOW_MS = 6 * 60_000;
/** How often a fast loop writes its series; the count loses nothing. */
const SERIES_WRITE_INTERVAL_MS = 10_000;
/** The API's limit for `note`. */
export const MAX_NOTE_BYTES = 1024;
/** How many distinct Events may wait for the API server; beyond it the newest is dropped. */
const MAX_PENDING_EVENTS = 1000;
/** How many distinct Events can be folded; the one that was silent longest is forgotten first. */
const MAX_SERIES = 4096;
const MAX_ATTEMPTS = 5;
const RETRY_DELAY_MS = 250;
const WRITE_TIMEOUT_MS = 10_000;
const STOP_FLUSH_MS = 1000;
const WRITERS = 2;

/** One distinct Event, and its state in the API. */
interface Entry {
  readonly event: RecordedEvent;
  readonly name: string;
  readonly firstTime: string;
  count: number;
  lastTime: string;
  lastMs: number;
  /** The count that the server has; 0 while the Event does not exist. */
  writtenCount: number;
  writtenMs: number;
}

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  return new QueuedRecorder(options);
}

/** A reference to `object`. Items of lists lack kind and version, so `of` supplies them. */
export function referenceTo(of: Resource, object: KubeObject, fieldPath?: string): ObjectReference {
  const { namespace, name, uid, resourceVersion } = object.metadata;
  return {
    ...typeMetaOf(of),
    ...defined({ namespace, name, uid, resourceVersion, fieldPath }),
  };
}

class QueuedRecorder implements EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #logger: Logger;
  readonly #queue: WorkQueue;
  /** By series key, in order of the last occurrence. */
  readonly #entries = new Map<string, Entry>();
  readonly #writers: readonly Promise<void>[];
  #sequence: number;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#logger = options.logger.with({ recorder: options.controller });
    this.#sequence = Math.floor(options.random.next() * 1_000_000);
    this.#queue = createWorkQueue({
      ...options,
      baseDelayMs: RETRY_DELAY_MS,
      limit: MAX_PENDING_EVENTS,
    });
    this.#writers = Array.from({ length: WRITERS }, () => this.#write());
  }

  record(told: RecordedEvent): void {
    // Cut now, because thousands are kept.
    const event = { ...told, note: cutToBytes(told.note, MAX_NOTE_BYTES) };
    const nowMs = this.#options.clock.monotonic();
    const key = seriesKey(event);
    const known = this.#entries.get(key);
    const isRepeat = known !== undefined && nowMs - known.lastMs <= SERIES_WINDOW_MS;
    const entry = isRepeat ? known : this.#newEntry(event);
    entry.count++;
    entry.lastMs = nowMs;
    entry.lastTime = microTimestamp(this.#options.clock);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#forgetOldest();
    // After a failed write the key comes back by itself, with back-off.
    if (this.#queue.retries(key) > 0) return;
    const isDelayed = entry.writtenCount > 1;
    const delayMs = isDelayed ? entry.writtenMs + SERIES_WRITE_INTERVAL_MS - nowMs : 0;
    if (this.#queue.addAfter(key, delayMs)) return;
    this.#entries.delete(key);
    this.#logger.warn('too many events wait for the API server, one dropped', { ...event });
  }

  async stop(): Promise<void> {
    const isAbandoned = this.#options.signal?.aborted === true;
    for (const [key, entry] of isAbandoned ? [] : this.#entries) {
      if (entry.writtenCount < entry.count) this.#queue.add(key);
    }
    this.#queue.shutDown();
    await endsWithin(this.#options.clock, STOP_FLUSH_MS, Promise.all(this.#writers));
  }

  #newEntry(event: RecordedEvent): Entry {
    const now = microTimestamp(this.#options.clock);
    const nanoseconds = BigInt(Math.floor(this.#options.clock.now())) * 1_000_000n;
    this.#sequence = (this.#sequence + 1) % 1_000_000;
    const suffix = (nanoseconds + BigInt(this.#sequence)).toString(16);
    return {
      event,
      name: eventName(event.regarding.name ?? 'unknown', suffix),
      firstTime: now,
      count: 0,
      lastTime: now,
      lastMs: 0,
      writtenCount: 0,
      writtenMs: 0,
    };
  }

  #forgetOldest(): void {
    if (this.#entries.size <= MAX_SERIES) return;
    for (const [key, entry] of this.#entries) {
      if (entry.writtenCount < entry.count) continue;
      this.#entries.delete(key);
      return;
    }
  }

  async #write(): Promise<void> {
    for (;;) {
      const key = await this.#queue.take();
      if (key === undefined) return;
      const entry = this.#entries.get(key);
      if (entry !== undefined) await this.#writeEntry(key, entry);
      this.#queue.done(key);
    }
  }

  async #writeEntry(key: string, entry: Entry): Promise<void> {
    const { count } = entry;
    const { clock, signal: abandoned } = this.#options;
    if (count <= entry.writtenCount || abandoned?.aborted) return;
    try {
      await withDeadline(clock, WRITE_TIMEOUT_MS, abandoned, (signal) =>
        entry.writtenCount === 0 ? this.#create(entry, signal) : this.#patch(entry, signal),
      );
      entry.writtenCount = count;
      entry.writtenMs = clock.monotonic();
      this.#queue.forget(key);
      if (entry.count > count) this.#queue.addAfter(key, SERIES_WRITE_INTERVAL_MS);
    } catch (error) {
      if (abandoned?.aborted) return;
      const mayRetry = this.#queue.retries(key) + 1 < MAX_ATTEMPTS && isPassing(error);
      if (mayRetry && this.#queue.addRateLimited(key)) return;
      this.#queue.forget(key);
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      this.#logger.warn('event dropped', { ...entry.event, err: error });
    }
  }

  async #create(entry: Entry, signal: AbortSignal): Promise<void> {
    const { controller, instance } = this.#options;
    const { event } = entry;
    const body: Event = {
      ...typeMetaOf(EVENTS),
      metadata: { name: entry.name, namespace: namespaceOf(event) },
      eventTime: entry.firstTime,
      ...(entry.count > 1 ? { series: seriesOf(entry) } : {}),
      reportingController: controller,
      reportingInstance: instance ?? controller,
      action: event.action,
      reason: event.reason,
      regarding: event.regarding,
      note: event.note,
      type: event.type,
    };
    try {
      await this.#options.client.create(EVENTS, body, { signal });
    } catch (error) {
      // The name is unique to us, so an earlier try was carried out although its answer was lost.
      if (!isReason(error, 'AlreadyExists')) throw error;
    }
  }

  async #patch(entry: Entry, signal: AbortSignal): Promise<void> {
    const at = { namespace: namespaceOf(entry.event), name: entry.name };
    const patch = { series: seriesOf(entry) };
    try {
      await this.#options.client.patch(EVENTS, at, { type: 'merge', patch }, { signal });
    } catch (error) {
      // The Event has expired or was deleted: a new series begins.
      if (!isReason(error, 'NotFound')) throw error;
      await this.#create(entry, signal);
    }
  }
}

function seriesKey({ regarding, type, reason, action, note }: RecordedEvent): string {
  const { kind, namespace, name, uid, fieldPath } = regarding;
  return JSON.stringify([kind, namespace, name, uid, fieldPath, type, reason, action, note]);
}

function seriesOf(entry: Entry): NonNullable<Event['series']> {
  return { count: entry.count, lastObservedTime: entry.lastTime };
}

/** Events about cluster-scoped objects live in `default`. */
function namespaceOf(event: RecordedEvent): string {
  return event.regarding.namespace || 'default';
}

/** `<object>.<suffix>`, cut so that it stays a valid DNS subdomain. */
function eventName(object: string, suffix: string): string {
  const stem = object.slice(0, 253 - suffix.length - 1).replace(/[-.]+$/, '');
  return `${stem}.${suffix}`;
}

/** Whether another try can help: the server was unreachable, overloaded or broken. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof ApiStatusError)) return true;
  return error.code === 409 || error.code === 429 || error.code >= 500;
}
