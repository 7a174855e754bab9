/** Finds members' nodes that are not ready. */
import { isReady, NODES, type Node } from '@lockstep/kube/objects/node.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { forEachConcurrently } from '@lockstep/kube/runtime/concurrency.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { isReason } from '@lockstep/kube/status.ts';

/** It reads their Node objects, which many users may not do. */
export class NodeHealth {
  readonly #client: Client;
  readonly #clock: Clock;
  #isForbidden = false;
  #last: { readonly notReady: ReadonlySet<string>; readonly untilMs: number } | undefined;

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Names of those among `nodes` that are not ready, or gone. */
  async notReady(nodes: ReadonlySet<string>, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const nowMs = this.#clock.monotonic();
    if (this.#isForbidden || nodes.size === 0) return NONE;
    if (this.#last !== undefined && nowMs < this.#last.untilMs) return this.#last.notReady;
    const isFew = nodes.size <= MAX_SINGLE_READS;
    try {
      const ready = await (isFew ? this.#readEach(nodes, signal) : this.#readAll(signal));
      const notReady = new Set([...nodes].filter((name) => !ready.has(name)));
      this.#last = { notReady, untilMs: nowMs + (isFew ? FEW_FRESH_MS : MANY_FRESH_MS) };
      return notReady;
    } catch (error) {
      if (!isReason(error, 'Forbidden')) throw error;
      this.#isForbidden = true;
      return NONE;
    }
  }

  async #readEach(nodes: ReadonlySet<string>, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const ready = new Set<string>();
    await forEachConcurrently([...nodes], MAX_PARALLEL_READS, async (name) => {
      const node = await unlessGone(this.#client.get(NODES, { name }, { signal }));
      if (node !== undefined && isReady(node)) ready.add(name);
    });
    return ready;
  }

  /** From the cache of the API server, in one request. */
  async #readAll(signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { items } = await this.#client.list(NODES, { resourceVersion: '0', signal });
    return new Set(
      items.filter((node: Node) => isReady(node)).map(({ metadata }) => metadata.name),
    );
  }
}

const NONE: ReadonlySet<string> = new Set();
const MAX_SINGLE_READS = 20;
const MAX_PARALLEL_READS = 10;
/** Live status refreshes every second. */
const FEW_FRESH_MS = 1500;
const MANY_FRESH_MS = 10_000;
