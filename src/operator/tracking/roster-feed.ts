/** Gives the roster what the caches show and what agents say, and hands out its news. */

import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { BrokenInvariant } from '../../jobset/invariant.ts';
import { identityOf, isSame, jobOf, ownerOf } from '../../jobset/membership.ts';
import type { Roster } from '../../jobset/roster/roster.ts';
import type { RosterEvent, RosterNews } from '../../jobset/roster/roster-events.ts';
import type { Informers } from './caches.ts';

export interface RosterFeedOptions {
  readonly roster: Roster;
  readonly clock: Clock;
  /** The roster contradicts itself, so nothing may be decided from it any more. */
  readonly broken: (error: BrokenInvariant) => void;
}

export class RosterFeed {
  readonly #options: RosterFeedOptions;
  readonly #handlers: ((news: RosterNews) => void)[] = [];
  #broken: BrokenInvariant | undefined;

  constructor(options: RosterFeedOptions) {
    this.#options = options;
  }

  /** Throws once the roster is broken. */
  get roster(): Roster {
    if (this.#broken !== undefined) throw this.#broken;
    return this.#options.roster;
  }

  /** All handlers get all news; none depends on what another one does. */
  subscribe(handler: (news: RosterNews) => void): void {
    this.#handlers.push(handler);
  }

  tell(event: RosterEvent): void {
    for (const news of this.#apply(event)) for (const handler of this.#handlers) handler(news);
  }

  #apply(event: RosterEvent): readonly RosterNews[] {
    const { roster, clock, broken } = this.#options;
    if (this.#broken !== undefined) return [];
    try {
      return roster.apply(event, { wallMs: clock.now(), monotonicMs: clock.monotonic() });
    } catch (error) {
      if (!(error instanceof BrokenInvariant)) throw error;
      this.#broken = error;
      broken(error);
      return [];
    }
  }

  /**
   * Begins with everything that the caches hold. JobSets and Jobs come before their Pods: the end of
   * a Pod that has succeeded is judged by the status of its JobSet.
   */
  follow({ jobSets, jobs, livingPods, succeededPods }: Informers): void {
    jobSets.subscribe({
      added: (jobSet) => this.tell({ kind: 'JobSetSeen', jobSet }),
      updated: (jobSet, old) => {
        const [jobSetNow, before] = [identityOf(jobSet), identityOf(old)];
        if (!isSame(jobSetNow, before)) this.tell({ kind: 'JobSetGone', jobSet: before });
        this.tell({ kind: 'JobSetSeen', jobSet });
      },
      deleted: (jobSet) => this.tell({ kind: 'JobSetGone', jobSet: identityOf(jobSet) }),
    });
    jobs.subscribe({
      added: (job) => this.tell({ kind: 'JobSeen', job }),
      updated: (job, old) => {
        const [owner, before] = [ownerOf(job), ownerOf(old)];
        const isAnother = job.metadata.uid !== old.metadata.uid;
        if (isAnother || (before !== undefined && !isSame(owner, before))) {
          this.tell({ kind: 'JobGone', job: old });
        }
        this.tell({ kind: 'JobSeen', job });
      },
      deleted: (job) => this.tell({ kind: 'JobGone', job }),
    });
    livingPods.subscribe({
      added: (pod) => this.tell({ kind: 'PodSeen', pod }),
      updated: (pod, old) => {
        // Another Pod took the name while the watch was interrupted.
        if (pod.metadata.uid !== old.metadata.uid) this.tell({ kind: 'PodGone', pod: old });
        this.tell({ kind: 'PodSeen', pod });
      },
      deleted: (pod) => this.tell({ kind: 'PodGone', pod }),
    });
    succeededPods.subscribe({
      added: (pod) => this.tell({ kind: 'PodSucceeded', pod }),
      updated: (pod, old) => {
        // Any tenant may change the owner references of its Pods, again and again.
        if (jobOf(pod)?.uid !== jobOf(old)?.uid) this.tell({ kind: 'SuccessGone', pod: old });
        this.tell({ kind: 'SuccessSeen', pod });
      },
      deleted: (pod) => this.tell({ kind: 'SuccessGone', pod }),
    });
  }
}
