import { DEFAULT_FEATURE_GATES, type FeatureGates } from '../jobset/feature-gates.ts';
import type { AgentDefaults } from '../jobset/injection/agent-defaults.ts';
import type { AgentDelivery } from '../jobset/injection/agent-delivery.ts';
import type { HubAccess } from '../jobset/injection/agent-hub.ts';
import type { AgentProgram } from '../jobset/injection/agent-mode.ts';
import type { ContainerResources } from '../jobset/injection/agent-resources.ts';
import { ownerKey, ownerOf } from '../jobset/membership.ts';
import { JOBSET_NAME } from '../jobset/names.ts';
import { DEFAULT_SIZE_LIMITS, type SizeLimits } from '../jobset/size-limits.ts';
import type { KubeObject, Stored } from '../kube/meta.ts';
import { PERSISTENT_VOLUME_CLAIMS, SERVICES } from '../kube/objects/core.ts';
import { JOBS, type Job } from '../kube/objects/job.ts';
import { PODS } from '../kube/objects/pod.ts';
import type { Client } from '../runtime/client/client.ts';
import { type Controller, startController } from '../runtime/controller/controller.ts';
import { createEventRecorder, type EventRecorder } from '../runtime/controller/event-recorder.ts';
import { keyOf } from '../runtime/informer/informer.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import type { Logger } from '../runtime/ports/logger.ts';
import type { Random } from '../runtime/ports/random.ts';
import { publishHubAuthorities } from './hub/hub-authorities.ts';
import { connectHub, type HubConnection, type HubSettings } from './hub/hub-connection.ts';
import { startPlacementController } from './pod-placement/placement-controller.ts';
import { operatorMetrics } from './process/operator-metrics.ts';
import { JobSetReconciler } from './reconciling/jobset-reconciler.ts';
import {
  type Informers,
  informersUntil,
  type OperatorCaches,
  startCaches,
  withUid,
} from './tracking/caches.ts';
import { ForeignClaims, type ForeignClaimsOptions } from './tracking/foreign-claims.ts';
import { GroupTracker } from './tracking/group-tracker.ts';
import type { NodeFeatures } from './tracking/node-features.ts';
import type { PodVersions } from './tracking/pod-versions.ts';

/** The JobSet controller: informers in, `plan` in the middle, requests out. */
export interface OperatorOptions {
  readonly client: Client;
  /** For Events; by default `client`. */
  readonly eventClient?: Client | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics?: Metrics | undefined;
  readonly config: OperatorConfig;
  /** Present: agents may speak to this process instead of the API server. */
  readonly hub?: HubSettings | undefined;
  /** Without, nodes are taken to have all that can be made use of. */
  readonly nodeFeatures?: NodeFeatures | undefined;
  /**
   * From then on nothing is written any more, not even what is under way; `stop` ends the rest. A start
   * is given up.
   */
  readonly signal?: AbortSignal | undefined;
}

export interface OperatorConfig {
  /** Image of injected agents. */
  readonly agentImage: string;
  /** Program of injected agents, by default `lockstep-agent`. */
  readonly agentCommand?: string;
  /** How supervisors reach their workers' containers, by default `WorkerImage`. */
  readonly agentDelivery?: AgentDelivery;
  /** What sidecar agents ask for; by default it depends on their workers. */
  readonly agentResources?: ContainerResources;
  /** Of JobSets that do not say. */
  readonly agentDefaults?: AgentDefaults;
  /** Whether nodes know `Terminate`; by default they do not, as those of Kubernetes. */
  readonly nativeRestartRules?: boolean;
  /** All namespaces when absent. */
  readonly namespaces?: readonly string[];
  readonly gates?: FeatureGates;
  /** How large a JobSet may be. */
  readonly limits?: SizeLimits;
}

export interface Operator {
  /** What is behind the hub's port, if there is to be one. */
  readonly hub: Pick<HubConnection, 'accept' | 'listMembers'> | undefined;
  /** Ends running reconciles and all streams. What is half done, another operator finishes. */
  stop(): Promise<void>;
}

/** Resolves when the caches hold the cluster's state and the controller acts on it. */
export async function startOperator(options: OperatorOptions): Promise<Operator> {
  const caches = startCaches({ ...options, namespaces: options.config.namespaces });
  try {
    await caches.whenSynced(options.signal);
  } catch (error) {
    await caches.stop();
    throw error;
  }
  const { hub, stop } = actOn(caches, options);
  return {
    hub,
    stop: async () => {
      await stop();
      await caches.stop();
    },
  };
}

/**
 * Acts on caches that have synced, until it is stopped. It begins without memory: nothing but the
 * caches is left of an operator that acted on them before.
 */
export function actOn(caches: OperatorCaches, options: OperatorOptions): Operator {
  const stopped = new AbortController();
  const informers = informersUntil(caches.informers, stopped.signal);
  const { client, eventClient = client } = options;
  const events = createEventRecorder({ ...options, client: eventClient, controller: 'jobset' });
  const { controller, hub } = connect(options, informers, caches.versions, events);
  const placement = startPlacementController({ ...options, events, pods: informers.livingPods });
  const authorities =
    options.hub &&
    publishHubAuthorities({
      ...options,
      events,
      namespaces: options.config.namespaces,
      jobSets: informers.jobSets,
      access: options.hub.access,
    });
  return {
    hub,
    stop: async () => {
      hub?.close();
      await Promise.all([controller.stop(), placement.stop(), authorities?.stop()]);
      stopped.abort(new Error('the operator stopped'));
      await events.stop();
    },
  };
}

/** JobSets that are worked on at a time. */
const WORKERS = 4;
/** Jobs whose Pods come and go only move counters: such changes wait for each other this long. */
const JOB_COUNTERS_BATCH_MS = 50;

/** A restart takes all streams of a group and brings them back: what counts is what lasts. */
const HUB_REACH_BATCH_MS = 1000;

function connect(
  options: OperatorOptions,
  informers: Informers,
  versions: PodVersions,
  events: EventRecorder,
): {
  readonly controller: Controller;
  readonly hub: HubConnection | undefined;
} {
  const { jobs, jobSets, services, claims } = informers;
  const jobWithUid = (uid: string) => withUid(jobs, uid);
  const tracker = new GroupTracker({
    jobWithUid,
    onInterest: (key) => controller.enqueue(key),
    onStray: (stray) => reconciler.reportStray(stray),
    nowMs: () => options.clock.now(),
  });
  const jobSetWithUid = (uid: string) => withUid(jobSets, uid);
  followClaims(informers, { ...options, events, owners: { jobSetWithUid, jobWithUid } });
  const hub =
    options.hub &&
    connectHub(options, options.hub, { ...informers, jobWithUid }, tracker, (key) =>
      controller.enqueueAfter(key, HUB_REACH_BATCH_MS),
    );
  const reconciler = new JobSetReconciler({
    ...options,
    events,
    metrics: operatorMetrics(options.metrics),
    // Its hub's authorities may change.
    get agent() {
      return agentProgram(options.config, options.hub?.access());
    },
    agentDefaults: options.config.agentDefaults,
    gates: options.config.gates ?? DEFAULT_FEATURE_GATES,
    limits: options.config.limits ?? DEFAULT_SIZE_LIMITS,
    jobSets,
    jobs,
    services,
    claims,
    tracker,
    streamsOf: hub && ((uid) => hub.hub.streamsOf(uid)),
    versionsOf: (podUid, sinceMs) => versions.of(podUid, sinceMs),
    wroteStatus: (jobSet) => hub?.hub.jobSetSeen(jobSet),
  });
  const controller = startController({
    ...options,
    name: 'jobset',
    workers: WORKERS,
    reconcile: (key, signal) => reconciler.reconcile(key, signal),
  });
  subscribeToPods(informers, tracker);
  subscribeToJobs(informers, tracker, reconciler, controller);
  services.subscribe({ deleted: (service) => enqueueOwner(controller, service) });
  claims.subscribe({
    deleted: ({ metadata }) => {
      const key = `${metadata.namespace ?? ''}/${metadata.labels?.[JOBSET_NAME] ?? ''}`;
      reconciler.claimGone(key, metadata.name ?? '');
      controller.enqueue(key);
    },
  });
  jobSets.subscribe({
    added: (jobSet) => controller.enqueue(keyOf(jobSet)),
    updated: (jobSet, old) => {
      if (jobSet.metadata.uid !== old.metadata.uid) reconciler.forgetJobSet(old);
      controller.enqueue(keyOf(jobSet));
    },
    deleted: (jobSet) => reconciler.forgetJobSet(jobSet),
  });
  return { controller, hub };
}

function followClaims(informers: Informers, options: ForeignClaimsOptions): void {
  const claims = new ForeignClaims(options);
  claims.follow(JOBS, informers.jobs);
  claims.follow(SERVICES, informers.services);
  claims.follow(PERSISTENT_VOLUME_CLAIMS, informers.claims);
  claims.follow(PODS, informers.livingPods);
  claims.follow(PODS, informers.succeededPods);
}

function subscribeToPods({ livingPods, succeededPods }: Informers, tracker: GroupTracker): void {
  livingPods.subscribe({
    added: (pod) => tracker.podLives(pod),
    updated: (pod, old) => {
      // The name was given to another Pod while the watch was interrupted.
      if (pod.metadata.uid !== old.metadata.uid) tracker.podEnded(old.metadata.uid);
      tracker.podLives(pod);
    },
    deleted: ({ metadata }) => tracker.podEnded(metadata.uid),
  });
  succeededPods.subscribe({
    added: (pod) => tracker.podSucceeded(pod),
    updated: (pod) => tracker.podSucceeded(pod),
    deleted: (pod) => tracker.succeededPodGone(pod),
  });
}

function subscribeToJobs(
  { jobs }: Informers,
  tracker: GroupTracker,
  reconciler: JobSetReconciler,
  controller: Controller,
): void {
  const gone = (job: Stored<Job>): void => {
    reconciler.jobGone(job);
    tracker.jobGone(job);
    enqueueOwner(controller, job);
  };
  jobs.subscribe({
    added: (job) => {
      tracker.jobSeen(job);
      enqueueOwner(controller, job);
    },
    updated: (job, old) => {
      if (job.metadata.uid !== old.metadata.uid || ownerText(job) !== ownerText(old)) gone(old);
      tracker.jobSeen(job);
      enqueueOwner(controller, job, movesCountersOnly(job, old) ? JOB_COUNTERS_BATCH_MS : 0);
    },
    deleted: gone,
  });
}

function enqueueOwner(controller: Controller, child: KubeObject, delayMs = 0): void {
  const owner = ownerOf(child);
  if (owner !== undefined) controller.enqueueAfter(`${owner.namespace}/${owner.name}`, delayMs);
}

function ownerText(child: KubeObject): string {
  const owner = ownerOf(child);
  return owner === undefined ? '' : ownerKey(owner);
}

function movesCountersOnly(job: Stored<Job>, old: Stored<Job>): boolean {
  return (
    job.metadata.deletionTimestamp === old.metadata.deletionTimestamp &&
    job.spec.suspend === old.spec.suspend &&
    job.status?.succeeded === old.status?.succeeded &&
    trueConditions(job) === trueConditions(old)
  );
}

function trueConditions({ status }: Job): string {
  const conditions = status?.conditions ?? [];
  return conditions.map((condition) => `${condition.type}=${condition.status}`).join();
}

function agentProgram(config: OperatorConfig, hub: HubAccess | undefined): AgentProgram {
  const { agentImage, agentCommand, agentDelivery, agentResources } = config;
  const { nativeRestartRules = false } = config;
  return {
    image: agentImage,
    nativeRestartRules,
    ...(hub === undefined ? {} : { hub }),
    ...(agentCommand === undefined ? {} : { command: agentCommand }),
    ...(agentDelivery === undefined ? {} : { delivery: agentDelivery }),
    ...(agentResources === undefined ? {} : { resources: agentResources }),
  };
}
