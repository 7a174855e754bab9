/**
 * Passes JobSets from the API server to their cache, as far as the budget of each namespace allows.
 * For the rest of the operator a JobSet that is left out does not exist. When there is room, the
 * collection is listed again.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import { apiVersionOf } from '@lockstep/kube/resource.ts';
import type { WatchEvent } from '@lockstep/kube/runtime/client/client.ts';
import type { EventRecorder } from '@lockstep/kube/runtime/controller/event-recorder.ts';
import type { ReflectorSource } from '@lockstep/kube/runtime/informer/reflector.ts';
import { KeyedBudget } from '@lockstep/kube/runtime/keyed-budget.ts';
import type { Metrics } from '@lockstep/kube/runtime/metrics.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Rate } from '@lockstep/kube/runtime/token-bucket.ts';
import { failure } from '@lockstep/kube/status.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { isManagedByUs, type ManagedScope } from '../../jobset/manager.ts';
import {
  type BudgetLimits,
  type Holding,
  JOBSET_LIMITS,
  JobSetBudget,
  MEBIBYTE,
} from './jobset-budget.ts';

export interface BoundedJobSetsOptions extends ManagedScope {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: Metrics | undefined;
  /** By default `JOBSET_LIMITS`. */
  readonly jobSetLimits?: BudgetLimits | undefined;
}

/** The least time between two lists that take in JobSets that were left out. */
const LIST_AGAIN_MS = 60_000;
/** Enough Events to see the problem. */
const TOLD_OF_NAMESPACE: Rate = { perSecond: 0.2, burst: 20 };
const LEFT_OUT = 'LeftOut';

/** Called with each JobSet that is left out, once. */
type LeftOutHandler = (jobSet: Holding) => void;

export class BoundedJobSets {
  readonly limits: BudgetLimits;
  readonly #options: BoundedJobSetsOptions;
  /** One of each source. */
  readonly #budgets: JobSetBudget[] = [];
  readonly #handlers = new Set<LeftOutHandler>();

  constructor(options: BoundedJobSetsOptions) {
    this.limits = options.jobSetLimits ?? JOBSET_LIMITS;
    this.#options = options;
    const logged = new KeyedBudget(TOLD_OF_NAMESPACE, options.clock);
    this.subscribe(({ namespace, name }) => {
      if (!logged.of(namespace).tryTake()) return;
      options.logger.warn(`a JobSet is left out: ${whyLeftOut(namespace, this.limits)}`, {
        namespace,
        name,
      });
    });
    const gauge = options.metrics?.gauge({
      name: 'lockstep_jobsets_left_out',
      help: 'JobSets that get nothing done because those of their namespace take too much memory',
    });
    options.metrics?.beforePage(() => {
      gauge?.set(
        {},
        this.#budgets.reduce((sum, { leftOut }) => sum + leftOut.size, 0),
      );
    });
  }

  /** Calls the handler for JobSets that are left out already, too. */
  subscribe(handler: LeftOutHandler, until?: AbortSignal): void {
    if (until?.aborted) return;
    this.#handlers.add(handler);
    until?.addEventListener('abort', () => this.#handlers.delete(handler), { once: true });
    for (const { leftOut } of this.#budgets) leftOut.forEach(handler);
  }

  /** The source of a cache, for one namespace or all. */
  of(source: ReflectorSource<JobSet>): ReflectorSource<JobSet> {
    const { clock } = this.#options;
    const budget = new JobSetBudget(this.limits);
    this.#budgets.push(budget);
    let listedMs = clock.monotonic();
    // JobSets of other controllers are not acted on, counted or reported.
    const isOurs = ({ spec }: Stored<JobSet>): boolean => isManagedByUs(spec, this.#options);
    return {
      list: async (options) => {
        const page = await source.list(options);
        if (options.continue === undefined) budget.beginList();
        const items = page.items.filter((jobSet) => isOurs(jobSet) && budget.offer(jobSet));
        if ((page.metadata.continue ?? '') === '') {
          listedMs = clock.monotonic();
          const before = budget.leftOut;
          budget.endList();
          for (const [uid, holding] of budget.leftOut) if (!before.has(uid)) this.#tell(holding);
        }
        return { ...page, items };
      },
      watch: (options) =>
        bounded(source.watch(options), {
          offer: (jobSet) => {
            const { uid } = jobSet.metadata;
            if (!isOurs(jobSet)) {
              budget.forget(uid);
              return false;
            }
            const isKnown = budget.leftOut.has(uid);
            const isKept = budget.offer(jobSet);
            const holding = budget.leftOut.get(uid);
            if (holding !== undefined && !isKnown) this.#tell(holding);
            return isKept;
          },
          gone: (uid) => budget.forget(uid),
          seen: () => {
            if (clock.monotonic() - listedMs < LIST_AGAIN_MS || !budget.takeMore()) return;
            throw failure('Expired', 'there is room for JobSets that were left out: listing anew');
          },
        }),
    };
  }

  /** False only for a JobSet that the end of a list has left out. */
  keeps({ metadata }: Stored<JobSet>): boolean {
    return this.#budgets.every(({ leftOut }) => !leftOut.has(metadata.uid));
  }

  #tell(jobSet: Holding): void {
    for (const handler of this.#handlers) handler(jobSet);
  }
}

interface Sight {
  offer(jobSet: Stored<JobSet>): boolean;
  gone(uid: string): void;
  seen(): void;
}

/** A JobSet that is not kept is gone for the reader. */
async function* bounded(
  events: AsyncIterable<WatchEvent<Stored<JobSet>>>,
  { offer, gone, seen }: Sight,
): AsyncGenerator<WatchEvent<Stored<JobSet>>, void> {
  seen();
  for await (const event of events) {
    if (event.type === 'BOOKMARK') yield event;
    else if (event.type === 'DELETED') {
      gone(event.object.metadata.uid);
      yield event;
    } else yield offer(event.object) ? event : { type: 'DELETED', object: event.object };
    seen();
  }
}

/** Records Events about JobSets that are left out, for their owners. */
export function reportLeftOut(
  bounded: BoundedJobSets,
  { events, clock }: { readonly events: EventRecorder; readonly clock: Clock },
  until: AbortSignal,
): void {
  const told = new KeyedBudget(TOLD_OF_NAMESPACE, clock);
  bounded.subscribe(({ namespace, name, uid }) => {
    if (!told.of(namespace).tryTake()) return;
    const apiVersion = apiVersionOf(JOBSETS);
    events.record({
      regarding: { apiVersion, kind: JOBSETS.kind, namespace, name, uid },
      type: 'Warning',
      reason: LEFT_OUT,
      action: 'Reconciling',
      note: whyLeftOut(namespace, bounded.limits),
    });
  }, until);
}

function whyLeftOut(namespace: string, { taken }: BudgetLimits): string {
  const most = `${taken / MEBIBYTE} MiB`;
  return `the JobSets of namespace ${namespace} take more than ${most} of the operator's memory, so the operator does nothing about this one until there is room: delete some that are over, or make them smaller`;
}
