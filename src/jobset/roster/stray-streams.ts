import type { AgentEvent } from './roster-events.ts';

/** Counts open streams of Pods without a record. The hub admits no more than a fixed number. */
export class StrayStreams {
  /** By UID of the Pod. */
  readonly #streams = new Map<string, number>();

  hear({ kind, podUid }: AgentEvent): void {
    if (kind === 'StreamOpened') this.put(podUid, 1);
    if (kind === 'StreamClosed') this.put(podUid, -1);
  }

  put(podUid: string, streams: number): void {
    const sum = (this.#streams.get(podUid) ?? 0) + streams;
    if (sum > 0) this.#streams.set(podUid, sum);
    else this.#streams.delete(podUid);
  }

  /** The Pod has a record now. */
  take(podUid: string): number {
    const streams = this.#streams.get(podUid) ?? 0;
    this.#streams.delete(podUid);
    return streams;
  }
}
