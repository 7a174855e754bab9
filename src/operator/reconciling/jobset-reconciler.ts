/**
 * Makes one pass over a JobSet. It takes a snapshot, lets `plan` decide, answers its questions, and
 * writes the status under the resourceVersion on which the decision is based. Only then it reports,
 * counts and acts. It may be killed between any two requests; the next process continues from the
 * stored state.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import type { ReconcileResult } from '@lockstep/kube/runtime/controller/controller.ts';
import type { EventRecorder } from '@lockstep/kube/runtime/controller/event-recorder.ts';
import { keyOf } from '@lockstep/kube/runtime/informer/informer.ts';
import { OwnWrites } from '@lockstep/kube/runtime/informer/own-writes.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import { withDefaults } from '../../jobset/defaults.ts';
import type { Sha1 } from '../../jobset/derived-names.ts';
import { subdomainOf } from '../../jobset/derived-names.ts';
import type { FeatureGates } from '../../jobset/feature-gates.ts';
import { type AgentDefaults, withAgentDefaults } from '../../jobset/injection/agent-defaults.ts';
import type { AgentProgram } from '../../jobset/injection/agent-mode.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { identityOf, isChildOf, ownerKey, ownerOf } from '../../jobset/membership.ts';
import { asRecorded } from '../../jobset/overrides/recorded-annotations.ts';
import { type Answer, NO_ANSWERS } from '../../jobset/plan/questions.ts';
import { oldestUnsettledEpoch } from '../../jobset/plan/records/records.ts';
import type { Snapshot, Surroundings } from '../../jobset/plan/snapshot.ts';
import { type Plan, plan } from '../../jobset/plan.ts';
import type { RestartAllProblem } from '../../jobset/restart-rules/restart-rules.ts';
import type { InvalidPod } from '../../jobset/roster/invalid-pod.ts';
import type { RosterNews } from '../../jobset/roster/roster-events.ts';
import type { SizeLimits } from '../../jobset/size-limits.ts';
import { isFinished } from '../../jobset/status/conditions.ts';
import type { OperatorMetrics } from '../process/operator-metrics.ts';
import { type Informers, JOBS_BY_OWNER } from '../tracking/caches.ts';
import { ChildJobMemory } from '../tracking/child-job-memory.ts';
import { NODE_ANSWER_LIFETIME_MS } from '../tracking/node-answers.ts';
import type { NodeFeatures } from '../tracking/node-features.ts';
import type { PodVersions } from '../tracking/pod-versions.ts';
import type { RosterFeed } from '../tracking/roster-feed.ts';
import { carryOut } from './carry-out.ts';
import { findRecording, type RecordingSources, readWith } from './first-recording.ts';
import { whatGoesAway } from './going-away.ts';
import { createImageVolumes, type ImageVolumes } from './image-volumes.ts';
import { inquire } from './inquiries.ts';
import { JobSetMemory, MAX_NOTICES_PER_EPOCH, toldMembers } from './jobset-memory.ts';
import { Reports } from './reports.ts';
import { StartLooks } from './start-looks.ts';
import { StatusWriter } from './status-writer.ts';

export interface ReconcilerOptions extends RecordingSources {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventRecorder;
  readonly metrics: OperatorMetrics;
  /** It may change over time, with the authorities of the hub. */
  readonly agentProgram: () => AgentProgram;
  readonly agentDefaults?: AgentDefaults | undefined;
  /** What the nodes for a JobSet lack; if absent, they have every feature. */
  readonly nodeFeatures?: NodeFeatures | undefined;
  readonly sha1: Sha1;
  readonly gates: FeatureGates;
  readonly limits: SizeLimits;
  readonly informers: Informers;
  readonly feed: RosterFeed;
  readonly versions: PodVersions;
  /** Whether agents may use this operator instead of the API server. */
  readonly hasHub: boolean;
}

type StandbyOff = Extract<RosterNews, { readonly kind: 'StandbyOff' }>;

/** Mostly one question of each kind, and a few Pods with notices. More would change for ever. */
const MAX_QUESTIONS = 15 + MAX_NOTICES_PER_EPOCH;

export class JobSetReconciler {
  readonly #options: ReconcilerOptions;
  readonly #imageVolumes: ImageVolumes;
  readonly #startLooks: StartLooks;
  readonly #ownJobSets: OwnWrites<JobSet>;
  /** By UID of the JobSet. */
  readonly #memories = new Map<string, JobSetMemory>();
  readonly #reports: Reports;
  readonly #statuses: StatusWriter;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#reports = new Reports(options);
    this.#imageVolumes = createImageVolumes(options.client, options.clock);
    this.#startLooks = new StartLooks(options.clock);
    this.#ownJobSets = new OwnWrites(options.informers.jobSets.store);
    this.#statuses = new StatusWriter(options, this.#ownJobSets, this.#reports);
  }

  async reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const cached = this.#options.informers.jobSets.store.get(key);
    if (cached === undefined) return undefined;
    const jobSet = this.#ownJobSets.newest(cached);
    if (jobSet === cached) this.#ownJobSets.forget(cached.metadata.uid);
    const memory = this.#memoryOf(jobSet);
    try {
      const whole = await this.#statuses.whole(jobSet, memory, signal);
      return await this.#reconcile(whole, memory, signal);
    } catch (error) {
      const gone = whatGoesAway(error, jobSet);
      if (gone === undefined) throw error;
      this.#reports.goesAway(jobSet, memory, gone);
      return undefined;
    } finally {
      // The JobSet may have been deleted meanwhile: then drop the memory of this pass.
      const isGone =
        this.#options.informers.jobSets.store.get(key)?.metadata.uid !== jobSet.metadata.uid;
      if (isGone) this.forgetJobSet(jobSet);
    }
  }

  async #reconcile(
    jobSet: Stored<JobSet>,
    memory: JobSetMemory,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const recording = await findRecording(jobSet, this.#options, signal);
    const acted = readWith(jobSet, recording);
    const restartAllProblem = await this.#restartAllProblem(acted, signal);
    const found = { recording, restartAllProblem };
    const decided = await this.#decide(jobSet, memory, found, signal);
    const { made, snapshot } = decided;
    const { status } = made;
    // An earlier look at the JobSet takes the place of the one for this.
    const writeAgainMs =
      status === undefined
        ? memory.status.waitMs
        : await this.#statuses.writePlanned(snapshot.jobSet, memory, status, signal);
    this.#settle(snapshot.jobSet, made);
    memory.jobs.recorded(snapshot.vanished);
    memory.countersPutOff = made.countersPutOff;
    memory.starts.missing(made.missing, this.#options.clock.now());
    this.#reports.plan(snapshot.jobSet, memory, made);
    await this.#act(snapshot.jobSet, memory, made, signal);
    // No watch reports that nodes have the feature now.
    const askAgainMs = restartAllProblem === undefined ? undefined : NODE_ANSWER_LIFETIME_MS;
    const delays = [made.requeueAfterMs, decided.lookAgainMs, askAgainMs, writeAgainMs].filter(
      (ms) => ms !== undefined,
    );
    return delays.length === 0 ? undefined : { requeueAfterMs: Math.min(...delays) };
  }

  /** Why nodes cannot restart all containers of its Pods in place, if that matters to it. */
  async #restartAllProblem(
    jobSet: Stored<JobSet>,
    signal: AbortSignal,
  ): Promise<RestartAllProblem | undefined> {
    const { spec, status, metadata } = jobSet;
    const isInPlace = spec?.failurePolicy?.restartStrategy === 'InPlaceRestart';
    const isOver = isFinished(status?.conditions) || metadata.deletionTimestamp !== undefined;
    if (!isInPlace || isOver) return undefined;
    return this.#options.nodeFeatures?.restartAllProblem(spec, signal);
  }

  forgetJobSet(jobSet: Stored<JobSet>): void {
    const { metadata } = jobSet;
    this.#memories.delete(metadata.uid);
    this.#ownJobSets.forget(metadata.uid);
    this.#options.feed.tell({ kind: 'JobSetGone', jobSet: identityOf(jobSet) });
    this.#options.metrics.forget({ namespace: namespaceOf(metadata), name: metadata.name });
  }

  /** The cache has lost the Job; `job` is its last state. */
  jobGone(job: Stored<Job>): void {
    const owner = ownerOf(job);
    if (owner === undefined) return;
    const jobSet = this.#options.informers.jobSets.store.get(`${owner.namespace}/${owner.name}`);
    if (jobSet === undefined || !isChildOf(job, jobSet)) return;
    this.#memoryOf(jobSet).jobs.gone(job);
  }

  /** The cache has lost a volume claim of the JobSet with that key. */
  claimGone(key: string, claim: string): void {
    const jobSet = this.#options.informers.jobSets.store.get(key);
    if (jobSet !== undefined) this.#memoryOf(jobSet).claims.delete(claim);
  }

  /** Reports a Pod with a label that it may not have, once. */
  reportInvalidPod(pod: InvalidPod): void {
    const jobSet = this.#options.informers.jobSets.store.get(pod.jobSet);
    if (jobSet !== undefined) this.#reports.invalidPod(jobSet, this.#memoryOf(jobSet), pod);
  }

  reportStandbyOff({ jobSet: of, pod, why }: StandbyOff): void {
    const jobSet = this.#options.informers.jobSets.store.get(`${of.namespace}/${of.name}`);
    if (jobSet?.metadata.uid !== of.uid) return;
    this.#reports.standbyOff(jobSet, this.#memoryOf(jobSet), pod, why);
  }

  async #decide(
    first: Stored<JobSet>,
    memory: JobSetMemory,
    before: FoundBefore,
    signal: AbortSignal,
  ): Promise<Decided> {
    let jobSet = first;
    let answer: Answer = NO_ANSWERS;
    let lookAgainMs: number | undefined;
    // All answers belong to one moment: the controller reads each object at most once in a pass.
    const knowledge = memory.knowledge(this.#options.clock.now());
    for (let asked = 0; asked <= MAX_QUESTIONS; asked++) {
      const found = { answer, knowledge, ...before };
      this.#observe(jobSet, memory);
      const snapshot = this.#snapshot(jobSet, memory, found);
      const made = plan(snapshot);
      this.#options.feed.roster.watch(identityOf(jobSet), made.watchpoint);
      const { question } = made;
      if (question === undefined) {
        memory.sawTooFarAhead(answer({ kind: 'FreshJobSet', pods: [] }) ?? []);
        return { snapshot, made, lookAgainMs };
      }
      const ours = { imageVolumes: this.#imageVolumes, startLooks: this.#startLooks, memory };
      const sources = { ...this.#options, ...ours };
      const inquiry = await inquire(question, answer, jobSet, sources, signal);
      if (inquiry.fresh !== undefined) {
        jobSet = asRecorded(inquiry.fresh);
        this.#ownJobSets.note(jobSet);
      }
      lookAgainMs ??= inquiry.lookAgainMs;
      answer = inquiry.answers;
    }
    throw new Error(`the plan for ${keyOf(first)} asks without end`);
  }

  /** Brings the memory up to date, before a snapshot reads it. */
  #observe(jobSet: Stored<JobSet>, memory: JobSetMemory): void {
    memory.jobs.forgetShown(this.#cachedJobs(jobSet));
    const { clock, feed, hasHub } = this.#options;
    if (!hasHub) return;
    const group = feed.roster.of(identityOf(jobSet));
    const jobs = (): readonly Stored<Job>[] => memory.jobs.view(this.#cachedJobs(jobSet));
    memory.lookAtHub(() => toldMembers(group, jobs()), clock.now());
  }

  /** Only reads. */
  #snapshot(
    jobSet: Stored<JobSet>,
    memory: JobSetMemory,
    { restartAllProblem, ...found }: Pick<Snapshot, 'answer' | 'knowledge'> & FoundBefore,
  ): Snapshot {
    const { clock, feed, agentDefaults, gates, limits, sha1, hasHub } = this.#options;
    const agent = this.#options.agentProgram();
    const group = feed.roster.of(identityOf(jobSet));
    const jobs = memory.jobs.view(this.#cachedJobs(jobSet));
    const hasJobs = jobs.length > 0;
    return {
      ...found,
      ...this.#options.definition.facts,
      jobSet: withAgentDefaults(readWith(jobSet, found.recording), {
        defaults: agentDefaults,
        restartAllProblem,
        hasJobs,
      }),
      jobs,
      vanished: memory.jobs.vanished,
      members: group.members,
      endsIn: (epoch) => group.endsIn(epoch),
      reported: hasHub ? () => group.reported(clock.monotonic()) : undefined,
      surroundings: this.#surroundings(jobSet, memory),
      agent: restartAllProblem === undefined ? agent : { ...agent, restartAllProblem },
      gates,
      sha1,
      hubReach: hasHub ? memory.hubReach(group.streams, clock.now()) : undefined,
      startLook: memory.starts.look(clock.now()),
      limits,
      nowMs: clock.now(),
    };
  }

  #cachedJobs(jobSet: Stored<JobSet>): Iterable<Stored<Job>> {
    const { store } = this.#options.informers.jobs;
    return store.byIndex(JOBS_BY_OWNER, ownerKey(identityOf(jobSet)));
  }

  #surroundings(jobSet: Stored<JobSet>, memory: JobSetMemory): Surroundings {
    const { jobs, services, claims } = this.#options.informers;
    const { name, namespace = '' } = jobSet.metadata;
    const subdomain = subdomainOf(name, withDefaults(jobSet.spec));
    return {
      service: services.store.get(`${namespace}/${subdomain}`),
      jobNamed: (job) => jobs.store.get(`${namespace}/${job}`),
      hasClaim: (claim) =>
        memory.claims.has(claim) || claims.store.get(`${namespace}/${claim}`) !== undefined,
      hasAgentRights: memory.hasAgentRights,
    };
  }

  /** Ends of members that are in the status now need not be remembered. */
  #settle(jobSet: Stored<JobSet>, { status = jobSet.status ?? {} }: Plan): void {
    const group = this.#options.feed.roster.of(identityOf(jobSet));
    if (!isFinished(status.conditions)) group.settle(oldestUnsettledEpoch(status));
  }

  async #act(
    jobSet: Stored<JobSet>,
    memory: JobSetMemory,
    made: Plan,
    signal: AbortSignal,
  ): Promise<void> {
    if (made.actions.length === 0) {
      memory.triedToStart(false);
      return;
    }
    const { client, clock, metrics } = this.#options;
    const failed = await carryOut({ client, clock, jobSet, signal }, made.actions, (result) => {
      memory.learn(result);
      if (result.kind === 'PodForced') metrics.forcedDeletion(result.reason);
    });
    this.#reports.failures(jobSet, memory, failed);
    const [first] = failed;
    if (first !== undefined) throw first.error;
  }

  #memoryOf(jobSet: Stored<JobSet>): JobSetMemory {
    const { metadata } = jobSet;
    let memory = this.#memories.get(metadata.uid);
    if (memory === undefined) {
      const { informers, clock } = this.#options;
      const jobs = new ChildJobMemory(informers.jobs.store, identityOf(jobSet));
      memory = new JobSetMemory(jobs, clock);
      this.#memories.set(metadata.uid, memory);
    }
    return memory;
  }
}

/** The answers from before the plan. */
interface FoundBefore extends Pick<Snapshot, 'recording'> {
  /** Why nodes cannot restart all containers of a Pod in place; undefined: they can. */
  readonly restartAllProblem: RestartAllProblem | undefined;
}

interface Decided {
  readonly snapshot: Snapshot;
  readonly made: Plan;
  readonly lookAgainMs: number | undefined;
}
