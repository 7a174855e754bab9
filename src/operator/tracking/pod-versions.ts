import type { Clock } from '../../runtime/ports/clock.ts';

/**
 * The versions that Pods have lately had, from a watch of metadata alone. A node hides how a container
 * ended as soon as it restarts all containers of the Pod; whoever knows the version before can still
 * read it, since an API server keeps old versions for minutes. Bounded in number and in time.
 */
export class PodVersions {
  readonly #clock: Clock;
  /** In the order in which they were seen. */
  #seen: SeenVersion[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  saw(podUid: string, version: string): void {
    this.#seen.push({ podUid, version, seenMs: this.#clock.now() });
    if (this.#seen.length > 2 * MAX_VERSIONS) this.#forget();
  }

  /**
   * Of one Pod, since then, the oldest first. It looks through all: ask once for a restart, not for each
   * Pod.
   */
  of(podUid: string, sinceMs: number): readonly string[] {
    this.#forget();
    return this.#seen
      .filter((seen) => seen.podUid === podUid && seen.seenMs >= sinceMs)
      .map(({ version }) => version);
  }

  #forget(): void {
    const sinceMs = this.#clock.now() - LIFETIME_MS;
    this.#seen = this.#seen.slice(-MAX_VERSIONS).filter(({ seenMs }) => seenMs >= sinceMs);
  }
}

/** Those of a group of thousands while its first members fail. */
const MAX_VERSIONS = 8192;
/** A node restarts the containers of a Pod within seconds; an API server keeps versions for longer. */
const LIFETIME_MS = 60_000;

interface SeenVersion {
  readonly podUid: string;
  readonly version: string;
  readonly seenMs: number;
}
