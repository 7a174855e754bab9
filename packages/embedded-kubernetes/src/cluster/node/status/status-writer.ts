/**
 * Writes one Pod's statuses to the API, in order and one at a time, without delaying others. A
 * status that need not be seen is skipped when there is a newer one; one that shows what the next
 * hides (an exit code, a restart of all) is always sent.
 */
import { PODS, type Pod, type PodCondition } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import { type Clock, sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import { ApiStatusError, isReason } from '@lockstep/kube/status.ts';
import type { NodePodStatus } from './pod-status.ts';

const WRITE_TIMEOUT_MS = 10_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 10_000;
/** A conflict without a resourceVersion of ours means a Pod with another UID, or a busy server. */
const MAX_CONFLICTS = 5;
/** Containers of a Pod start within a moment of each other; one status covers them all. */
const QUIET_MS = 20;
/** How many statuses wait for a silent API server: the oldest are dropped first. */
const MAX_QUEUED = 16;

/**
 * What happens to a status when there is a newer one. `latest` is replaced by it; a `step` is sent
 * first as long as the API server keeps up; a `must` is always sent.
 */
export type StatusImportance = 'latest' | 'step' | 'must';

/** A step that has waited for longer is skipped, to spare a busy server. */
const STEP_LIFETIME_MS = 50;

interface Queued {
  readonly status: NodePodStatus;
  readonly importance: StatusImportance;
  /** On the monotonic clock. */
  readonly sinceMs: number;
}

export class StatusWriter {
  readonly #pod: Pod;
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #stop = new AbortController();
  /** Aborted by a status that must not wait. */
  #quiet = new AbortController();
  #queue: Queued[] = [];
  #written: NodePodStatus | undefined;
  #work: Promise<void> | undefined;

  constructor(pod: Pod, client: Client, clock: Clock, logger: Logger) {
    this.#pod = pod;
    this.#client = client;
    this.#clock = clock;
    this.#logger = logger;
  }

  write(status: NodePodStatus, importance: StatusImportance): void {
    if (this.#stop.signal.aborted) return;
    if (this.#queue.at(-1)?.importance === 'latest') this.#queue.pop();
    this.#queue.push({ status, importance, sinceMs: this.#clock.monotonic() });
    if (this.#queue.length > MAX_QUEUED) this.#queue.shift();
    if (importance !== 'latest') this.#quiet.abort();
    this.#work ??= this.#drain().finally(() => {
      this.#work = undefined;
    });
  }

  /** Resolves once everything was written or given up. */
  async flushed(): Promise<void> {
    await this.#work;
  }

  /** Drops what waits; nothing is written any more. */
  stop(): void {
    this.#quiet.abort();
    this.#stop.abort(new Error('the node writes this status no more'));
    this.#queue = [];
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      if (this.#queue[0]?.importance === 'latest') {
        this.#quiet = new AbortController();
        await this.#pause(QUIET_MS, this.#quiet.signal);
      }
      const next = this.#queue.shift();
      if (next !== undefined && !this.#isHistory(next)) await this.#send(next.status);
    }
  }

  #isHistory({ importance, sinceMs }: Queued): boolean {
    const isSuperseded = importance === 'step' && this.#queue.length > 0;
    return isSuperseded && this.#clock.monotonic() - sinceMs > STEP_LIFETIME_MS;
  }

  async #send(status: NodePodStatus): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    for (let conflicts = 0; ; retryMs = Math.min(2 * retryMs, LAST_RETRY_MS)) {
      try {
        await this.#patch(status);
        this.#written = status;
        return;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        if (isReason(error, 'Conflict')) conflicts++;
        if (conflicts > MAX_CONFLICTS || isFinal(error)) {
          if (!isReason(error, 'NotFound')) {
            this.#logger.warn('the status of a Pod was not accepted', { err: error });
          }
          return;
        }
        this.#logger.debug('the status of a Pod could not be written yet', { err: error });
      }
      await this.#pause(retryMs, this.#stop.signal);
      if (this.#stop.signal.aborted) return;
    }
  }

  #pause(delayMs: number, signal: AbortSignal): Promise<void> {
    return sleep(this.#clock, delayMs, signal).catch(() => undefined);
  }

  #patch(status: NodePodStatus): Promise<unknown> {
    const { namespace, name, uid } = this.#pod.metadata;
    const patch = { metadata: { uid }, status: statusPatch(status, this.#written) };
    return withDeadline(this.#clock, WRITE_TIMEOUT_MS, this.#stop.signal, (signal) =>
      this.#client.patch(
        PODS,
        { namespace: namespace ?? '', name: name ?? '' },
        { type: 'strategic', patch },
        { subresource: 'status', signal },
      ),
    );
  }
}

/** Whether another try is useless. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof ApiStatusError)) return false;
  return error.code >= 400 && error.code < 500 && error.code !== 409 && error.code !== 429;
}

/**
 * A strategic merge patch. Conditions of other writers stay, conditions of the node are merged by
 * type, so removed texts must be removed by name.
 */
function statusPatch(status: NodePodStatus, before: NodePodStatus | undefined): object {
  const known = new Map(before?.conditions.map((condition) => [condition.type, condition]));
  return {
    ...status,
    conditions: status.conditions.map((condition) => ({
      ...cleared(condition, known.get(condition.type)),
      ...condition,
    })),
  };
}

function cleared(now: PodCondition, before: PodCondition | undefined): object {
  return {
    ...(before?.reason !== undefined && now.reason === undefined ? { reason: null } : {}),
    ...(before?.message !== undefined && now.message === undefined ? { message: null } : {}),
  };
}
