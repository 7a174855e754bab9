/** Finds out why Pods of a Job are not made: no status says it, only Events do. */

import { namespaceOf, type Stored } from '@lockstep/kube/meta.ts';
import { CORE_EVENTS } from '@lockstep/kube/objects/event.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { isReason } from '@lockstep/kube/status.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { jobWithoutPods } from '../../jobset/plan/reports/report-starting.ts';
import type { PodRefusal } from '../../jobset/view/status-view.ts';
import { eventViews, isAbout } from './event-views.ts';

/** It reads Events of one Job, which some users may not do, and only while the JobSet names it. */
export class PodRefusals {
  readonly #client: Client;
  readonly #clock: Clock;
  #isForbidden = false;
  #last:
    | { readonly job: string; readonly found: PodRefusal[]; readonly untilMs: number }
    | undefined;

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** The newest, or none. */
  async ofJobSet(jobSet: Stored<JobSet>, signal: AbortSignal): Promise<readonly PodRefusal[]> {
    const job = jobWithoutPods(jobSet.status?.conditions);
    if (this.#isForbidden || job === undefined) return [];
    const nowMs = this.#clock.monotonic();
    if (this.#last?.job === job && nowMs < this.#last.untilMs) return this.#last.found;
    try {
      const { items } = await this.#client.list(CORE_EVENTS, {
        namespace: namespaceOf(jobSet.metadata),
        fieldSelector: `involvedObject.kind=Job,involvedObject.name=${job},type=Warning`,
        limit: MAX_EVENTS,
        signal,
      });
      const views = eventViews(
        items.filter((event) => isAbout(event, jobSet, () => undefined)),
        jobSet.metadata.uid,
      );
      const found = views
        .slice(-1)
        .map(({ reason, message, timeMs }) => ({ job, reason, message, timeMs }));
      this.#last = { job, found, untilMs: nowMs + FRESH_MS };
      return found;
    } catch (error) {
      if (isReason(error, 'NotFound')) return [];
      if (!isReason(error, 'Forbidden')) throw error;
      this.#isForbidden = true;
      return [];
    }
  }
}

/** API servers keep Events for an hour, and Jobs try ever less often. */
const MAX_EVENTS = 500;
/** Live status refreshes every second. */
const FRESH_MS = 5000;
