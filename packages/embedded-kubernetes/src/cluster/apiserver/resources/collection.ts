/** The store of one resource's objects, in front of the storage. */
import { assert } from '@lockstep/kube/assert.ts';
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import { SortedKeys } from '@lockstep/kube/runtime/memory/sorted-keys.ts';
import type { Storage } from '../../ports/storage.ts';
import type { ApiObject } from './api-object.ts';
import type { CommitSequence } from './commit-sequence.ts';
import { type Entry, encodeForStorage, storedEntry, tombstone } from './entry.ts';

/**
 * All objects of one resource: an ordered copy in memory that answers every read, in front of the
 * durable storage. A bounded history of changes serves watches that resume, and lists that continue
 * at an older revision. Writes to one key go one after the other.
 */
export class Collection {
  readonly #prefix: string;
  readonly #storage: Storage;
  readonly #commits: CommitSequence;
  readonly #entries = new Map<string, Entry>();
  readonly #keys = new SortedKeys();
  readonly #history: Change[] = [];
  /** The history holds all changes after this revision. */
  #historyStart: number;
  readonly #subscribers = new Set<Subscriber>();
  readonly #writers = new Map<string, Promise<unknown>>();

  private constructor(prefix: string, storage: Storage, commits: CommitSequence) {
    this.#prefix = prefix;
    this.#storage = storage;
    this.#commits = commits;
    this.#historyStart = commits.revision;
  }

  /** Loads the objects that storage holds below `/registry/GROUP/PLURAL/`. */
  static async open(
    of: { readonly group: string; readonly plural: string },
    storage: Storage,
    commits: CommitSequence,
  ): Promise<Collection> {
    const prefix = `/registry/${of.group === '' ? 'core' : of.group}/${of.plural}/`;
    const collection = new Collection(prefix, storage, commits);
    for (const pair of await storage.list(prefix)) {
      const key = pair.key.slice(prefix.length);
      collection.#keep(
        storedEntry(key, decode(pair.key, pair.value), pair.value, pair.modRevision),
      );
    }
    return collection;
  }

  /** Every change up to this revision is visible here. */
  get revision(): number {
    return this.#commits.revision;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  /** Entries whose key begins with `prefix`, in key order, from `start` on. */
  entries(prefix: string, start = prefix): readonly Entry[] {
    const found: Entry[] = [];
    for (const key of this.#keys.from(start > prefix ? start : prefix)) {
      if (!key.startsWith(prefix)) break;
      const entry = this.#entries.get(key);
      if (entry !== undefined) found.push(entry);
    }
    return found;
  }

  /** The entries at an older revision; undefined if the history does not reach back to it. */
  entriesAt(revision: number, prefix: string, start = prefix): readonly Entry[] | undefined {
    const undone = this.changesSince(revision);
    if (undone === undefined) return undefined;
    const before = new Map<string, Entry | undefined>();
    for (const change of undone) {
      if (!before.has(change.key)) before.set(change.key, change.previous);
    }
    const now = this.entries(prefix, start).filter((entry) => !before.has(entry.key));
    const then = [...before.values()].filter(
      (entry): entry is Entry => entry?.key.startsWith(prefix) === true && entry.key >= start,
    );
    return [...now, ...then].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** All changes after `revision`, oldest first; undefined when the history does not reach back. */
  changesSince(revision: number): readonly Change[] | undefined {
    if (revision < this.#historyStart) return undefined;
    let at = this.#history.length;
    while (at > 0 && (this.#history[at - 1]?.revision ?? 0) > revision) at--;
    return this.#history.slice(at);
  }

  /** Calls `onChange` for every later change, in revision order; call the result to stop. */
  subscribe(onChange: (change: Change) => void, onEnd: () => void = () => undefined): () => void {
    const subscriber = { onChange, onEnd };
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /** Tells subscribers that the resource no longer exists. */
  end(): void {
    for (const { onEnd } of this.#subscribers) onEnd();
  }

  /**
   * Runs `decide` on the current state of a key while no other write to it is under way, and
   * carries out the result. If `decide` throws, the write is rejected and nothing changes.
   */
  async write<T>(
    key: string,
    decide: (current: Entry | undefined) => Write<T> | Promise<Write<T>>,
  ): Promise<T> {
    const before = this.#writers.get(key);
    const turn = this.#afterwards(before, async () => {
      const current = this.#entries.get(key);
      const { change, result } = await decide(current);
      return result(change === undefined ? undefined : await this.#commit(key, current, change));
    });
    this.#writers.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#writers.get(key) === turn) this.#writers.delete(key);
    }
  }

  async #afterwards<T>(before: Promise<unknown> | undefined, run: () => Promise<T>): Promise<T> {
    await before?.catch(() => undefined);
    return run();
  }

  async #commit(
    key: string,
    current: Entry | undefined,
    change: ApiObject | 'Delete',
  ): Promise<Entry | undefined> {
    const expected = current?.storedRevision ?? 0;
    const path = this.#prefix + key;
    const bytes = change === 'Delete' ? undefined : encodeForStorage(change);
    const revision =
      bytes === undefined
        ? await this.#storage.delete(path, expected)
        : await this.#storage.put(path, bytes, expected);
    assert(revision !== undefined, `only the server writes ${path}`);
    const entry =
      change === 'Delete' || bytes === undefined
        ? undefined
        : storedEntry(key, change, bytes, revision);
    const applied = new Change({ revision, key, previous: current, entry });
    await this.#commits.commit(revision, () => this.#apply(applied));
    return entry ?? applied.departed;
  }

  #apply(change: Change): void {
    if (change.entry === undefined) {
      this.#entries.delete(change.key);
      this.#keys.remove(change.key);
    } else {
      this.#keep(change.entry);
    }
    this.#history.push(change);
    if (this.#history.length > HISTORY_LIMIT + HISTORY_SLACK) {
      const dropped = this.#history.splice(0, HISTORY_SLACK);
      this.#historyStart = dropped.at(-1)?.revision ?? this.#historyStart;
    }
    for (const { onChange } of this.#subscribers) onChange(change);
  }

  #keep(entry: Entry): void {
    if (!this.#entries.has(entry.key)) this.#keys.add(entry.key);
    this.#entries.set(entry.key, entry);
  }
}

interface Subscriber {
  readonly onChange: (change: Change) => void;
  readonly onEnd: () => void;
}

/** One write as watchers and continued lists need to see it. */
export class Change {
  readonly revision: number;
  readonly key: string;
  /** The state before; undefined for a creation. */
  readonly previous: Entry | undefined;
  /** The state after; undefined for a deletion. */
  readonly entry: Entry | undefined;
  /** Encoded watch events by type and representation, shared by all watchers. */
  readonly lines = new Map<string, Uint8Array>();
  #departed: Entry | undefined;

  constructor(of: Pick<Change, 'revision' | 'key' | 'previous' | 'entry'>) {
    this.revision = of.revision;
    this.key = of.key;
    this.previous = of.previous;
    this.entry = of.entry;
  }

  /** The previous state under this revision, for watchers from whose selection the object drops. */
  get departed(): Entry | undefined {
    if (this.previous === undefined) return undefined;
    this.#departed ??= tombstone(this.previous, this.revision);
    return this.#departed;
  }
}

/** The outcome of a decision: a new state, a deletion or nothing, and the result for the caller. */
export interface Write<T> {
  readonly change: ApiObject | 'Delete' | undefined;
  /** Receives the new state (for a deletion: the last one), or undefined if nothing was written. */
  readonly result: (entry: Entry | undefined) => T;
}

/**
 * How many changes each resource keeps. A client that is further behind starts again. With the
 * objects of training workloads it takes some tens of megabytes at worst.
 */
const HISTORY_LIMIT = 4_096;
/** How many changes are dropped together, so that a long history is not moved for each change. */
const HISTORY_SLACK = 512;

function decode(path: string, bytes: Uint8Array): ApiObject {
  const object: unknown = JSON.parse(new TextDecoder().decode(bytes));
  if (!isJsonObject(object) || !isJsonObject(object['metadata'])) {
    throw new Error(`storage holds no object at ${path}`);
  }
  return object as unknown as ApiObject;
}
