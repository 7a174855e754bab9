/** The log of one member: what there is of it, and what follows through restarts of its container. */
import { defined } from '@lockstep/kube/json/defined.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client, LogOptions } from '@lockstep/kube/runtime/client/client.ts';
import { type Clock, sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { TransportError } from '@lockstep/kube/runtime/ports/transport.ts';
import { ApiStatusError, isReason } from '@lockstep/kube/status.ts';
import { lastCounted } from './last-lines.ts';
import { LineCursor, type TimedLine, timedLines } from './timed-lines.ts';

export interface MemberLogOptions {
  readonly client: Pick<Client, 'logs'>;
  readonly clock: Clock;
  readonly pod: Stored<Pod>;
  readonly container: string;
  /** What is read at first: of each run of the container. */
  readonly first: Pick<LogOptions, 'tailLines' | 'sinceTime' | 'sinceSeconds'>;
  /** Which lines `tailLines` counts, and no others are read then; undefined: all, as the server does. */
  readonly counts: ((text: Buffer) => boolean) | undefined;
  /** Called when the log cannot be read, at most once until it can. */
  readonly onProblem: (message: string) => void;
  readonly signal: AbortSignal;
}

/** Time between two tries to continue, unless the Pod changes. */
const RETRY_MS = { least: 200, most: 5000 } as const;

/** It can be read once by `soFar`, and then once by `following`, which continues behind that. */
export class MemberLog {
  readonly #options: MemberLogOptions;
  readonly #cursor = new LineCursor();
  /** Undefined: it is gone. */
  #pod: Stored<Pod> | undefined;
  #changed = new AbortController();
  #hasProblem = false;
  /** What there was at first has been read. */
  #isBegun = false;

  constructor(options: MemberLogOptions) {
    this.#options = options;
    this.#pod = options.pod;
  }

  /** To be called when the Pod changes. */
  update(pod: Stored<Pod> | undefined): void {
    if (pod === this.#pod) return;
    this.#pod = pod;
    this.#changed.abort();
    this.#changed = new AbortController();
  }

  /** The last run of the container before this one, and this one up to now. */
  async *soFar(): AsyncGenerator<TimedLine> {
    try {
      yield* this.#runs(false);
    } catch (error) {
      this.#tell(error);
    }
    this.#isBegun = true;
  }

  /** Ends when the Pod has ended or is gone, and its log was read. */
  async *following(): AsyncGenerator<TimedLine> {
    const { clock, signal } = this.#options;
    let waitMs: number = RETRY_MS.least;
    while (!signal.aborted) {
      // Asked before reading: a Pod that ends afterwards is read once more.
      const isLast = this.#isOver();
      const changed = this.#changed.signal;
      try {
        for await (const line of this.#runs(true)) {
          waitMs = RETRY_MS.least;
          this.#hasProblem = false;
          yield line;
        }
      } catch (error) {
        this.#tell(error);
      }
      this.#isBegun = true;
      if (isLast) return;
      await sleep(clock, RETRY_MS.least, signal).catch(() => undefined);
      await sleep(clock, waitMs, AbortSignal.any([signal, changed])).catch(() => undefined);
      waitMs = Math.min(2 * waitMs, RETRY_MS.most);
    }
  }

  /** A stream shows only the newest run, so the end of the run before it may have been missed. */
  async *#runs(follow: boolean): AsyncGenerator<TimedLine> {
    if (this.#restarts() > 0) {
      try {
        yield* this.#read({ previous: true });
      } catch (error) {
        // Nodes may have removed the log of that run.
        if (!isNotThere(error)) throw error;
      }
    }
    yield* this.#read({ follow });
  }

  async *#read(run: Pick<LogOptions, 'previous' | 'follow'>): AsyncGenerator<TimedLine> {
    const { first, counts } = this.#options;
    // What there is at first is limited in each run; later, only what was shown is left out.
    const since = this.#isBegun ? this.#cursor.since : undefined;
    // A container that waits for its restart shows its last run as this one, too.
    this.#cursor.reopen();
    const asked = { ...defined(run), ...(since === undefined ? first : { sinceTime: since }) };
    const { tailLines = 0 } = asked;
    // The last lines of a stream are those that have not come yet.
    const lines =
      tailLines === 0 || counts === undefined || run.follow === true
        ? this.#lines(asked)
        : lastCounted(tailLines, counts, (last) => this.#lines({ ...asked, tailLines: last }));
    let begin: string | undefined;
    try {
      for await (const line of lines) {
        // Among the last lines there were only lines that count. Others may have the same times.
        if (first.tailLines !== undefined && counts?.(line.text) === false) {
          this.#cursor.passed(line.stamp);
          continue;
        }
        begin ??= line.stamp;
        if (this.#cursor.isNew(line.stamp)) yield line;
      }
    } finally {
      if (since === undefined) this.#cursor.beginsAt(begin ?? '');
    }
  }

  #lines(asked: LogOptions): AsyncIterable<TimedLine> {
    const { client, pod, container, signal } = this.#options;
    const { namespace = '', name } = pod.metadata;
    const options = { container, timestamps: true, ...asked, signal };
    return timedLines(client.logs({ namespace, name }, options));
  }

  #tell(error: unknown): void {
    const { signal, onProblem } = this.#options;
    if (signal.aborted || isNotThere(error)) return;
    if (!(error instanceof TransportError) && !isOfServer(error)) throw error;
    if (!this.#hasProblem) onProblem(error instanceof Error ? error.message : String(error));
    this.#hasProblem = true;
  }

  #restarts(): number {
    const { container } = this.#options;
    const { containerStatuses = [], initContainerStatuses = [] } = this.#pod?.status ?? {};
    const status = [...containerStatuses, ...initContainerStatuses].find(
      ({ name }) => name === container,
    );
    return status?.restartCount ?? 0;
  }

  #isOver(): boolean {
    const phase = this.#pod?.status?.phase;
    return this.#pod === undefined || phase === 'Succeeded' || phase === 'Failed';
  }
}

/** The container has not started, that run has no log, or the Pod is gone. */
function isNotThere(error: unknown): boolean {
  return isReason(error, 'BadRequest') || isReason(error, 'NotFound');
}

/** The node or the server cannot answer now; other refusals are for good. */
function isOfServer(error: unknown): boolean {
  return error instanceof ApiStatusError && (error.code >= 500 || error.code === 429);
}
