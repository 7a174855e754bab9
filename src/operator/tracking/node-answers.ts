/**
 * What the operator asks about nodes. It reads the nodes on which the Pods of a JobSet may run page
 * by page, and keeps the answers for a while, by the labels of these nodes.
 */

import type { StringMap } from '@lockstep/kube/meta.ts';
import { isReady, NODES, type Node } from '@lockstep/kube/objects/node.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { ExpiringMap } from '@lockstep/kube/runtime/expiring-map.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { ApiStatusError, isReason } from '@lockstep/kube/status.ts';
import type { JobSetSpec } from '../../jobset/jobset.ts';

/** How long an answer is used: nodes and feature gates change rarely. */
export const NODE_ANSWER_LIFETIME_MS = 300_000;

/** Sets of labels by which Pods choose their nodes; a cluster has few. */
const MAX_ANSWERS = 1_000;

/** A question about all nodes with some labels, and how it is answered. */
export interface PagedQuestion<T> {
  readonly nodesPerPage: number;
  readonly maxPages: number;
  /** The answer, if the nodes of one page are enough. */
  fromPage(nodes: readonly Node[]): T | undefined;
  /** The answer if no page was enough. `isAll` is false if there are more pages than are read. */
  otherwise(labels: string, count: number, isAll: boolean): T;
  /** The answer if the API server refuses the question. */
  refused(error: ApiStatusError): T;
}

export class NodeAnswers<T> {
  readonly #client: Client;
  readonly #question: PagedQuestion<T>;
  readonly #answers: ExpiringMap<{ readonly answer: T }>;

  constructor(client: Client, clock: Clock, question: PagedQuestion<T>) {
    this.#client = client;
    this.#question = question;
    this.#answers = new ExpiringMap(clock, MAX_ANSWERS);
  }

  /** Rejects while the API server does not answer. */
  async on(labels: string, signal: AbortSignal): Promise<T> {
    const known = this.#answers.get(labels);
    if (known !== undefined) return known.answer;
    const answer = await this.#ask(labels, signal);
    this.#answers.set(labels, { answer }, NODE_ANSWER_LIFETIME_MS);
    return answer;
  }

  async #ask(labels: string, signal: AbortSignal): Promise<T> {
    const { nodesPerPage: limit, maxPages } = this.#question;
    const selected = labels === '' ? {} : { labelSelector: labels };
    let next: { readonly continue?: string } = {};
    let count = 0;
    try {
      for (let page = 0; page < maxPages; page++) {
        const { items, metadata } = await this.#client.list(NODES, {
          ...selected,
          ...next,
          limit,
          signal,
        });
        const answer = this.#question.fromPage(items);
        if (answer !== undefined) return answer;
        count += items.length;
        if (!metadata.continue) return this.#question.otherwise(labels, count, true);
        next = { continue: metadata.continue };
      }
      return this.#question.otherwise(labels, count, false);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return this.#question.refused(error);
    }
  }
}

/** Whether the API server does not let us ask, now or later; another failure may pass. */
export function isRefusal(error: unknown): error is ApiStatusError {
  return error instanceof ApiStatusError && error.code < 500 && error.code !== 429;
}

/** The labels by which the Pods of a JobSet choose their nodes, each set once. */
export function nodeSelectors(spec: JobSetSpec | undefined): ReadonlySet<string> {
  const templates = (spec?.replicatedJobs ?? []).map(({ template }) => template.spec.template);
  if (templates.length === 0) return new Set(['']);
  return new Set(templates.map((template) => selectorOf(template.spec.nodeSelector ?? {})));
}

function selectorOf(labels: StringMap): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return pairs.toSorted().join(',');
}

/**
 * Whether the Node object is not ready, or gone. False if it cannot be read: it only explains a
 * failure, and no restart waits for an explanation.
 */
export async function isNodeLost(
  name: string | undefined,
  client: Client,
  signal: AbortSignal,
): Promise<boolean> {
  if (name === undefined) return false;
  try {
    return !isReady(await client.get(NODES, { name }, { signal }));
  } catch (error) {
    signal.throwIfAborted();
    return isReason(error, 'NotFound');
  }
}
