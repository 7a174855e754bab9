import type { AgentProgram } from '../jobset/agent-mode.ts';
import { withDefaults } from '../jobset/defaults.ts';
import type { FeatureGates } from '../jobset/feature-gates.ts';
import { JOBSETS, type JobSet } from '../jobset/jobset.ts';
import type { PodFacts } from '../jobset/pod-facts.ts';
import { subdomainOf } from '../jobset/naming.ts';
import { type Plan, plan } from '../jobset/plan.ts';
import type { Answers, Knowledge, Snapshot } from '../jobset/snapshot.ts';
import type { Job } from '../kube/job.ts';
import type { KubeObject, Stored } from '../kube/meta.ts';
import { isReason } from '../kube/status.ts';
import type { Client } from '../runtime/client.ts';
import type { ReconcileResult } from '../runtime/controller.ts';
import { type EventRecorder, referenceTo } from '../runtime/event-recorder.ts';
import { type Informer, keyOf } from '../runtime/informer.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import type { Logger } from '../runtime/ports/logger.ts';
import { carryOut, type FailedCreation } from './carry-out.ts';
import type { GroupTracker, StrayPod } from './group-tracker.ts';
import { inquire } from './inquiries.ts';
import { JobSetMemory, MAX_NOTICES_PER_EPOCH } from './jobset-memory.ts';
import type { OperatorMetrics } from './operator-metrics.ts';
import { OwnWrites } from './own-writes.ts';

/**
 * Brings one JobSet a step further: takes a snapshot, lets `plan` decide, answers what it asks,
 * writes the status under the resourceVersion that was decided on, and only then tells, counts and
 * acts. It may be killed between any two requests; the next process goes on from what is written.
 */
export interface ReconcilerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventRecorder;
  readonly metrics: OperatorMetrics;
  readonly agent: AgentProgram;
  readonly gates: FeatureGates;
  readonly jobSets: Informer<JobSet>;
  /** With the index `JOBS_BY_OWNER`. */
  readonly jobs: Informer<Job>;
  readonly services: Informer<KubeObject>;
  readonly tracker: GroupTracker;
}

/** Index of the Jobs' informer: by UID of the JobSet that controls them. */
export const JOBS_BY_OWNER = 'jobset-uid';

/** `events.k8s.io` action of all our Events, as upstream has it. */
const ACTION = 'Reconciling';
/** A plan asks at most one question of each kind, and looks at a few Pods with notices. */
const MAX_QUESTIONS = 4 + MAX_NOTICES_PER_EPOCH;

export class JobSetReconciler {
  readonly #options: ReconcilerOptions;
  readonly #ownJobSets: OwnWrites<JobSet>;
  readonly #ownJobs: OwnWrites<Job>;
  /** UIDs of Jobs whose deletion was accepted. */
  readonly #deleted = new Set<string>();
  /** By UID of the JobSet. */
  readonly #memories = new Map<string, JobSetMemory>();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#ownJobSets = new OwnWrites(options.jobSets.store);
    this.#ownJobs = new OwnWrites(options.jobs.store);
  }

  async reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const cached = this.#options.jobSets.store.get(key);
    if (cached === undefined) return undefined;
    const jobSet = this.#ownJobSets.newest(cached);
    const memory = this.#memoryOf(jobSet);
    const decided = await this.#decide(jobSet, memory, signal);
    const { made } = decided;
    await this.#writeStatus(decided.snapshot.jobSet, made, signal);
    this.#rememberCounters(memory, made);
    this.#tell(decided.snapshot.jobSet, made);
    await this.#act(decided.snapshot.jobSet, made, signal);
    const delays = [made.requeueAfterMs, decided.lookAgainMs].filter((ms) => ms !== undefined);
    return delays.length === 0 ? undefined : { requeueAfterMs: Math.min(...delays) };
  }

  forgetJobSet({ metadata }: Stored<JobSet>): void {
    this.#memories.delete(metadata.uid);
    this.#ownJobSets.forget(metadata.uid);
    this.#options.tracker.watch(metadata.uid, undefined);
  }

  forgetJob({ metadata }: Stored<Job>): void {
    this.#deleted.delete(metadata.uid);
    this.#ownJobs.forget(metadata.uid);
  }

  /** Reports a Pod that wears a label which it may not, once. */
  reportStray({ jobSet: key, podUid, problem }: StrayPod): void {
    const jobSet = this.#options.jobSets.store.get(key);
    if (jobSet === undefined) return;
    if (!this.#memoryOf(jobSet).sawStray(`${podUid}/${problem}`)) return;
    this.#record(jobSet, 'Warning', 'InvalidMember', problem);
  }

  async #decide(
    first: Stored<JobSet>,
    memory: JobSetMemory,
    signal: AbortSignal,
  ): Promise<Decided> {
    let jobSet = first;
    let answers: Answers = {};
    let lookAgainMs: number | undefined;
    let strays: readonly PodFacts[] = [];
    // As of one moment: what was looked into in this pass is not looked into again.
    const knowledge = memory.knowledge(this.#options.clock.now());
    for (let asked = 0; asked <= MAX_QUESTIONS; asked++) {
      const snapshot = this.#snapshot(jobSet, answers, knowledge);
      const made = plan(snapshot);
      this.#options.tracker.watch(jobSet.metadata.uid, made.watchpoint);
      const { question } = made;
      if (question === undefined) {
        memory.sawStrays(strays);
        return { snapshot, made, lookAgainMs };
      }
      const inquiry = await inquire(question, jobSet, this.#options.client, signal);
      if (inquiry.fresh !== undefined) {
        this.#ownJobSets.note(inquiry.fresh);
        jobSet = inquiry.fresh;
      }
      for (const job of inquiry.jobs ?? []) this.#ownJobs.note(job);
      for (const pod of inquiry.succeeded ?? []) this.#options.tracker.podSucceeded(pod);
      if (question.kind === 'FreshJobSet') strays = question.pods;
      if (question.kind === 'Notice' && inquiry.answers.witness?.showsFailure !== true) {
        const againMs = memory.sawNoFailure(question.pod, this.#options.clock.now());
        lookAgainMs ??= againMs;
      } else answers = { ...answers, ...inquiry.answers };
    }
    throw new Error(`the plan for ${keyOf(first)} asks without end`);
  }

  #snapshot(jobSet: Stored<JobSet>, answers: Answers, knowledge: Knowledge): Snapshot {
    const { clock, tracker, agent, gates, services } = this.#options;
    const { name, namespace = '', uid } = jobSet.metadata;
    const subdomain = subdomainOf(name, withDefaults(jobSet.spec));
    return {
      jobSet,
      jobs: this.#jobsOf(uid),
      members: tracker.members(uid),
      hasService: services.store.get(`${namespace}/${subdomain}`) !== undefined,
      answers,
      knowledge,
      agent,
      gates,
      nowMs: clock.now(),
    };
  }

  /** The JobSet's Jobs with what we did to them and the cache does not show yet. */
  #jobsOf(uid: string): readonly Stored<Job>[] {
    const cached = [...this.#options.jobs.store.byIndex(JOBS_BY_OWNER, uid)];
    const uids = new Set(cached.map(({ metadata }) => metadata.uid));
    const isOurs = (job: Job): boolean =>
      job.metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;
    const jobs = cached.map((job) => this.#ownJobs.newest(job));
    return [...jobs, ...this.#ownJobs.missing(uids, isOurs)].map((job) =>
      this.#deleted.has(job.metadata.uid) ? asDeleted(job) : job,
    );
  }

  async #writeStatus(jobSet: Stored<JobSet>, made: Plan, signal: AbortSignal): Promise<void> {
    if (made.status === undefined) return;
    const { client } = this.#options;
    try {
      const next = { ...jobSet, status: made.status };
      const written = await client.update(JOBSETS, next, { subresource: 'status', signal });
      this.#ownJobSets.note(written);
    } catch (error) {
      if (isReason(error, 'Conflict')) await this.#readAgain(jobSet, signal);
      throw error;
    }
  }

  /** After a conflict the retry should not have to wait for the cache. */
  async #readAgain({ metadata }: Stored<JobSet>, signal: AbortSignal): Promise<void> {
    const { name, namespace = '', uid } = metadata;
    try {
      const fresh = await this.#options.client.get(JOBSETS, { namespace, name }, { signal });
      if (fresh.metadata.uid === uid) this.#ownJobSets.note(fresh);
    } catch (error) {
      this.#options.logger.debug('reading again after a conflict failed', { err: error });
    }
  }

  #rememberCounters(memory: JobSetMemory, made: Plan): void {
    if (!made.countersDiffer) memory.countersDifferSinceMs = undefined;
    else memory.countersDifferSinceMs ??= this.#options.clock.now();
  }

  #tell(jobSet: Stored<JobSet>, made: Plan): void {
    const { name, namespace = '' } = jobSet.metadata;
    for (const { type, reason, note } of made.events) this.#record(jobSet, type, reason, note);
    for (const outcome of made.outcomes)
      this.#options.metrics.observe({ name, namespace }, outcome);
  }

  async #act(jobSet: Stored<JobSet>, made: Plan, signal: AbortSignal): Promise<void> {
    if (made.actions.length === 0) return;
    const failed = await carryOut(
      {
        client: this.#options.client,
        jobSet,
        signal,
        wrote: (job) => this.#ownJobs.note(job),
        deleted: (job) => this.#deleted.add(job.metadata.uid),
      },
      made.actions,
    );
    this.#reportFailures(jobSet, failed);
  }

  #reportFailures(jobSet: Stored<JobSet>, failed: readonly FailedCreation[]): void {
    const [first] = failed;
    if (first === undefined) return;
    for (const reason of new Set(failed.map((failure) => failure.reason))) {
      const texts = failed
        .filter((each) => each.reason === reason)
        .map((each) => messageOf(each.error));
      this.#record(jobSet, 'Warning', reason, [...new Set(texts)].join('\n'));
    }
    throw first.error;
  }

  #record(jobSet: Stored<JobSet>, type: 'Normal' | 'Warning', reason: string, note: string): void {
    const regarding = referenceTo(JOBSETS, jobSet);
    this.#options.events.record({ regarding, type, reason, action: ACTION, note });
  }

  #memoryOf({ metadata }: Stored<JobSet>): JobSetMemory {
    let memory = this.#memories.get(metadata.uid);
    if (memory === undefined) {
      memory = new JobSetMemory();
      this.#memories.set(metadata.uid, memory);
    }
    return memory;
  }
}

interface Decided {
  readonly snapshot: Snapshot;
  readonly made: Plan;
  /** A notice was looked into in vain and deserves another look. */
  readonly lookAgainMs: number | undefined;
}

function asDeleted(job: Stored<Job>): Stored<Job> {
  if (job.metadata.deletionTimestamp !== undefined) return job;
  return {
    ...job,
    metadata: { ...job.metadata, deletionTimestamp: job.metadata.creationTimestamp },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
