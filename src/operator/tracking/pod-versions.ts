import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';

/**
 * Recent versions of Pods, from a watch of metadata. A node hides how a container ended as soon as
 * it restarts all containers of the Pod. The version before can still be read, because an API
 * server keeps old versions for minutes. Bounded in number and in time.
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
   * The versions of one Pod since then, the oldest first. It scans all entries: call it once per
   * restart, not for each Pod.
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

/** Enough for a group of thousands while its first members fail. */
const MAX_VERSIONS = 8192;
/**
 * A node restarts the containers of a Pod within seconds; an API server keeps versions for longer.
 */
const LIFETIME_MS = 60_000;

interface SeenVersion {
  readonly podUid: string;
  readonly version: string;
  readonly seenMs: number;
}
