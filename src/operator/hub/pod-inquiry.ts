import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import { type Clock, sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import { encodeHubMessage } from '../../jobset/hub/message.ts';
import type { AgentStream } from './agent-stream.ts';

/**
 * Answers agents that have to know whether their Pods still exist
 * (`docs/design/release-hazards.md#a-lost-node-keeps-its-pod-for-ever`). A cache may be old, so Pods
 * are read from storage after the question has come. One list answers all members of a JobSet that
 * wait for it. An agent without an answer asks again.
 */
export interface PodInquiryOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** UIDs of the JobSet's Pods that live and are not being deleted, read from storage. */
  readonly listPods: (
    namespace: string,
    jobSetUid: string,
    signal: AbortSignal,
  ) => Promise<ReadonlySet<string>>;
}

const LIST_TIMEOUT_MS = 15_000;
/** The least time between lists of one JobSet, because most members ask within a short time. */
const MIN_GAP_MS = 1000;
/** A list of many Pods is expensive for the API server: use at most a twentieth of its time. */
const GAP_PER_LIST_TIME = 20;
/** Bounds the gap, because an agent that starts waits for the answer. */
const MAX_GAP_MS = 5000;

interface Inquiry {
  /** The newest question of each stream. */
  readonly waiting: Map<AgentStream, number>;
}

export class PodInquiry {
  readonly #options: PodInquiryOptions;
  readonly #end = new AbortController();
  /** By UID of the JobSet; present while an agent waits. */
  readonly #inquiries = new Map<string, Inquiry>();

  constructor(options: PodInquiryOptions) {
    this.#options = options;
  }

  ask(stream: AgentStream, ask: number): void {
    const { jobSetUid, namespace } = stream.member;
    const known = this.#inquiries.get(jobSetUid);
    if (known !== undefined) {
      known.waiting.set(stream, ask);
      return;
    }
    const inquiry = { waiting: new Map([[stream, ask]]) };
    this.#inquiries.set(jobSetUid, inquiry);
    this.#run(namespace, jobSetUid, inquiry).catch((error: unknown) => {
      // Only the end of the hub gets here.
      if (!this.#end.signal.aborted) throw error;
    });
  }

  close(): void {
    this.#end.abort(new Error('the hub closes'));
  }

  async #run(namespace: string, jobSetUid: string, { waiting }: Inquiry): Promise<void> {
    const { clock } = this.#options;
    while (waiting.size > 0) {
      const asked = new Map(waiting);
      waiting.clear();
      const startedMs = clock.monotonic();
      await this.#answer(namespace, jobSetUid, asked);
      const tookMs = clock.monotonic() - startedMs;
      const gapMs = Math.min(MAX_GAP_MS, Math.max(MIN_GAP_MS, tookMs * GAP_PER_LIST_TIME));
      await sleep(clock, gapMs, this.#end.signal);
    }
    this.#inquiries.delete(jobSetUid);
  }

  async #answer(
    namespace: string,
    jobSetUid: string,
    asked: ReadonlyMap<AgentStream, number>,
  ): Promise<void> {
    const { clock, logger, listPods } = this.#options;
    const { signal } = this.#end;
    try {
      const living = await withDeadline(clock, LIST_TIMEOUT_MS, signal, (within) =>
        listPods(namespace, jobSetUid, within),
      );
      for (const [stream, ask] of asked) {
        if (!living.has(stream.member.podUid)) continue;
        stream.send('podLives', Buffer.from(encodeHubMessage({ type: 'podLives', ask })));
      }
    } catch (error) {
      signal.throwIfAborted();
      logger.warn('Pods could not be read for their agents', { namespace, jobSetUid, err: error });
    }
  }
}
