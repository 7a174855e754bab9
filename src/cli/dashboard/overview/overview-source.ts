/** Follows all JobSets that the user may read, and tells pages about their rows. */

import type { Stored } from '@lockstep/kube/meta.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import { pause, type Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import type { FirstLook, OverviewMessage } from '../../../dashboard/messages/overview.ts';
import { JOBSETS, type JobSet } from '../../../jobset/jobset.ts';
import { identityOf, ownerKey, ownerOf } from '../../../jobset/membership.ts';
import { JOBSET_NAME } from '../../../jobset/names.ts';
import { type OverviewRow, overviewRow, podCounts } from '../../../jobset/view/overview.ts';
import type { HeardGroups, HubGroups } from '../../jobset-list/hub-groups.ts';
import { Coalesced } from '../streams/coalesced.ts';
import type { Publisher, Source } from '../streams/feed.ts';
import { Followed, type Surroundings } from '../streams/followed.ts';
import { refusalInWords } from '../streams/refusal-in-words.ts';
import { MAX_ROWS, overviewChanges, type Rows, toldRows } from './overview-changes.ts';

/** Which JobSets are shown. */
export interface Scope {
  /** Undefined: all, if the user may read all. */
  readonly namespace: string | undefined;
  /** Shown instead if the user may not. */
  readonly fallback: string;
  /** For a newcomer to the cluster of `lockstep up`. */
  readonly firstLook?: FirstLook;
}

export interface OverviewOptions extends Surroundings {
  readonly scope: Scope;
  readonly hub: Pick<HubGroups, 'ask' | 'close'>;
}

/** What members tell the hub has no watch, so it is polled. */
const ASK_INTERVAL_MS = 3000;
/** Until JobSets are known. */
const FIRST_ASK_MS = 200;
/** Goodput changes by itself. */
const REFRESH_MS = 10_000;
const OWNER = 'owner';

interface Followers {
  readonly namespace: string | undefined;
  readonly jobSets: Followed<JobSet>;
  readonly jobs: Followed<Job>;
}

export class OverviewSource implements Source<OverviewMessage> {
  readonly #options: OverviewOptions;
  readonly #publish: (message: OverviewMessage) => void;
  readonly #coalesced: Coalesced;
  readonly #leaveHealth: () => void;
  #followers: Followers;
  /** What pages know. */
  #told: Rows | undefined;
  #toldProblems: readonly string[] = [];
  /** Namespaces and names of what may have changed since; undefined: all. */
  #dirty: Set<string> | undefined;
  #refresh: Timer;
  #heard: HeardGroups = new Map();
  readonly #stopping = new AbortController();

  constructor(options: OverviewOptions, publisher: Publisher<OverviewMessage>) {
    const { clock, health, scope } = options;
    this.#options = options;
    this.#publish = publisher.publish;
    this.#coalesced = new Coalesced(clock, () => this.#tell());
    this.#leaveHealth = health.follow({ changed: () => this.#coalesced.ask() });
    this.#followers = this.#follow(scope.namespace);
    this.#refresh = this.#refreshLater();
    void this.#askAgainAndAgain();
  }

  snapshot(): readonly OverviewMessage[] {
    const problems = { type: 'Problems', problems: this.#toldProblems } as const;
    if (this.#told === undefined) return [problems];
    return [this.#all(this.#told), problems];
  }

  async stop(): Promise<void> {
    this.#refresh.cancel();
    this.#coalesced.stop();
    this.#leaveHealth();
    this.#stopping.abort(new Error('nobody looks any more'));
    this.#options.hub.close();
    await stopped(this.#followers);
  }

  #follow(namespace: string | undefined): Followers {
    const { clock, client, random, health } = this.#options;
    const common = {
      clock,
      client,
      random,
      health,
      namespace,
      onState: () => this.#stateChanged(),
    };
    const jobSetChanged = ({ metadata }: Stored<JobSet>): void =>
      this.#changed(`${metadata.namespace}/${metadata.name}`);
    const jobChanged = (job: Stored<Job>): void => {
      const owner = ownerOf(job);
      if (owner !== undefined) this.#changed(`${owner.namespace}/${owner.name}`);
    };
    return {
      namespace,
      jobSets: new Followed<JobSet>({
        ...common,
        resource: JOBSETS,
        handler: { added: jobSetChanged, updated: jobSetChanged, deleted: jobSetChanged },
      }),
      jobs: new Followed<Job>({
        ...common,
        resource: JOBS,
        labelSelector: JOBSET_NAME,
        indexes: {
          [OWNER]: (job) => [ownerOf(job)].flatMap((owner) => (owner ? [ownerKey(owner)] : [])),
        },
        handler: { added: jobChanged, updated: jobChanged, deleted: jobChanged },
      }),
    };
  }

  #changed(key: string): void {
    this.#dirty?.add(key);
    this.#coalesced.ask();
  }

  #stateChanged(): void {
    this.#dirty = undefined;
    this.#coalesced.ask();
  }

  #refreshLater(): Timer {
    return this.#options.clock.setTimer(REFRESH_MS, () => {
      this.#stateChanged();
      this.#refresh = this.#refreshLater();
    });
  }

  async #askAgainAndAgain(): Promise<void> {
    const { clock, hub } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const { informer } = this.#followers.jobSets;
      const heard = await hub.ask([...informer.store.values()], signal).catch(() => this.#heard);
      if (signal.aborted) return;
      this.#hear(heard);
      await pause(clock, informer.hasSynced() ? ASK_INTERVAL_MS : FIRST_ASK_MS, signal);
    }
  }

  #hear(heard: HeardGroups): void {
    const before = this.#heard;
    this.#heard = heard;
    for (const { metadata } of this.#followers.jobSets.informer.store.values()) {
      const [old, now] = [before.get(metadata.uid), heard.get(metadata.uid)];
      if (JSON.stringify(old) === JSON.stringify(now)) continue;
      this.#changed(`${metadata.namespace}/${metadata.name}`);
    }
  }

  #tell(): void {
    this.#narrow();
    const { jobSets } = this.#followers;
    if (jobSets.informer.hasSynced() && jobSets.refusal === undefined) this.#tellRows();
    const problems = this.#problems();
    if (JSON.stringify(problems) === JSON.stringify(this.#toldProblems)) return;
    this.#toldProblems = problems;
    this.#publish({ type: 'Problems', problems });
  }

  /** What is missing, in sentences. */
  #problems(): readonly string[] {
    const { health, scope } = this.#options;
    const { namespace, jobSets, jobs } = this.#followers;
    const problems: string[] = [];
    if (health.problem !== undefined) problems.push(health.problem);
    if (namespace !== scope.namespace) {
      problems.push(
        `You may not list the JobSets of all namespaces, so this is namespace ${namespace}: choose another with -n.`,
      );
    }
    if (jobSets.refusal !== undefined) {
      problems.push(refusalInWords(jobSets.refusal, 'JobSets', namespace));
    } else if (jobs.refusal !== undefined) {
      const what = refusalInWords(jobs.refusal, 'Jobs', namespace);
      problems.push(`${what} So it is not shown how many members are ready.`);
    }
    const { size } = jobSets.informer.store;
    if (size > MAX_ROWS) {
      problems.push(
        `The newest ${MAX_ROWS} of ${size} JobSets are shown: choose a namespace with -n.`,
      );
    }
    return problems;
  }

  /** A user who may not read all namespaces sees one. */
  #narrow(): void {
    const { jobSets, namespace } = this.#followers;
    if (jobSets.refusal?.code !== 403 || namespace !== undefined) return;
    void stopped(this.#followers);
    this.#followers = this.#follow(this.#options.scope.fallback);
    this.#told = undefined;
    this.#dirty = undefined;
  }

  #tellRows(): void {
    const told = this.#told;
    const now = this.#rows(told);
    this.#dirty = new Set();
    if (told === undefined) {
      this.#told = now;
      this.#publish(this.#all(now));
      return;
    }
    const message = overviewChanges(told, now);
    if (message === undefined) return;
    this.#told = toldRows(told, message);
    this.#publish(message);
  }

  #all(rows: Rows): OverviewMessage {
    return { type: 'Rows', rows: [...rows.values()], firstLook: this.#options.scope.firstLook };
  }

  #rows(told: Rows | undefined): Rows {
    const { store } = this.#followers.jobSets.informer;
    const dirty = this.#dirty;
    if (dirty === undefined || told === undefined || store.size > MAX_ROWS) {
      const all = newest([...store.values()]);
      return new Map(all.map((jobSet) => [jobSet.metadata.uid, this.#row(jobSet)]));
    }
    const rows = new Map<string, OverviewRow>();
    for (const [uid, row] of told) {
      if (!dirty.has(`${row.namespace}/${row.name}`)) rows.set(uid, row);
    }
    for (const key of dirty) {
      const jobSet = store.get(key);
      if (jobSet !== undefined) rows.set(jobSet.metadata.uid, this.#row(jobSet));
    }
    return rows;
  }

  #row(jobSet: Stored<JobSet>): OverviewRow {
    const { informer, refusal } = this.#followers.jobs;
    const isKnown = informer.hasSynced() && refusal === undefined;
    const jobs = informer.store.byIndex(OWNER, ownerKey(identityOf(jobSet)));
    const pods = isKnown ? podCounts(jobs) : null;
    const heard = this.#heard.get(jobSet.metadata.uid);
    return overviewRow(jobSet, pods, this.#options.clock.now(), heard);
  }
}

async function stopped({ jobSets, jobs }: Followers): Promise<void> {
  await Promise.all([jobSets.stop(), jobs.stop()]);
}

function newest(jobSets: readonly Stored<JobSet>[]): readonly Stored<JobSet>[] {
  if (jobSets.length <= MAX_ROWS) return jobSets;
  const createdOf = ({ metadata }: Stored<JobSet>): string => metadata.creationTimestamp ?? '';
  return jobSets.toSorted((a, b) => (createdOf(a) < createdOf(b) ? 1 : -1)).slice(0, MAX_ROWS);
}
