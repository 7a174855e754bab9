/** The JobSet controller: informers in, `plan` in the middle, requests out. */

import { defined } from '@lockstep/kube/json/defined.ts';
import { PERSISTENT_VOLUME_CLAIMS, SERVICES } from '@lockstep/kube/objects/core.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createEventRecorder } from '@lockstep/kube/runtime/controller/event-recorder.ts';
import { keyOf } from '@lockstep/kube/runtime/informer/informer.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import type { Sha1 } from '../jobset/derived-names.ts';
import { DEFAULT_FEATURE_GATES, type FeatureGates } from '../jobset/feature-gates.ts';
import type { AgentDefaults } from '../jobset/injection/agent-defaults.ts';
import type { AgentDelivery } from '../jobset/injection/agent-delivery.ts';
import type { ServedHub } from '../jobset/injection/agent-hub.ts';
import type { AgentProgram } from '../jobset/injection/agent-mode.ts';
import type { ContainerResources } from '../jobset/injection/agent-resources.ts';
import type { ManagedScope } from '../jobset/manager.ts';
import { Roster } from '../jobset/roster/roster.ts';
import { DEFAULT_SIZE_LIMITS, type SizeLimits } from '../jobset/size-limits.ts';
import { publishHubAuthorities } from './hub/hub-authorities.ts';
import { connectHub, type HubConnection, type HubSettings } from './hub/hub-connection.ts';
import { startPlacementController } from './pod-placement/placement-controller.ts';
import { startJobSetController } from './reconciling/jobset-controller.ts';
import { reportLeftOut } from './tracking/bounded-jobsets.ts';
import {
  type Informers,
  informersUntil,
  type OperatorCaches,
  startCaches,
  withUid,
} from './tracking/caches.ts';
import { ForeignClaims, type ForeignClaimsOptions } from './tracking/foreign-claims.ts';
import type { BudgetLimits } from './tracking/jobset-budget.ts';
import {
  type NamespaceAnnotations,
  namespaceAnnotations,
} from './tracking/namespace-annotations.ts';
import type { NodeFeatures } from './tracking/node-features.ts';
import { RosterFeed } from './tracking/roster-feed.ts';
import { measureRuns } from './tracking/run-metrics.ts';

export interface OperatorOptions extends MeasuredPorts {
  /** For Events; by default `client`. */
  readonly eventClient?: Client | undefined;
  /** SHA-1 in lower-case hex: Jobs carry it as upstream's job key. */
  readonly sha1: Sha1;
  readonly config: OperatorConfig;
  /** If present, agents may use this process instead of the API server. */
  readonly hub?: HubSettings | undefined;
  /** By default `JOBSET_LIMITS`. */
  readonly jobSetLimits?: BudgetLimits | undefined;
  /** If absent, nodes count as having every feature. */
  readonly nodeFeatures?: NodeFeatures | undefined;
  /** By default it reads them itself, and says itself if it may not. */
  readonly namespaceAnnotations?: NamespaceAnnotations | undefined;
  /**
   * Called if what the operator knows contradicts itself. It decides nothing more, and has to end.
   */
  readonly broken?: ((error: Error) => void) | undefined;
  /**
   * When it aborts, the operator writes nothing more: requests under way end, too. `stop` ends the
   * rest. The signal also ends a start.
   */
  readonly signal?: AbortSignal | undefined;
}

export interface OperatorConfig extends ManagedScope {
  /** Image of injected agents. */
  readonly agentImage: string;
  /** Program of injected agents, by default `lockstep-agent`. */
  readonly agentCommand?: string;
  /** How supervisors reach their workers' containers, by default `WorkerImage`. */
  readonly agentDelivery?: AgentDelivery;
  /** The resources of sidecar agents; by default they depend on their workers'. */
  readonly agentResources?: ContainerResources;
  /** For JobSets without settings of their own. */
  readonly agentDefaults?: AgentDefaults;
  /** Whether accounts that templates name get the rights of agents; by default they do not. */
  readonly agentRights?: boolean;
  /** Whether nodes know `Terminate`; by default they do not, like Kubernetes' own nodes. */
  readonly nativeRestartRules?: boolean;
  /** All namespaces when absent. */
  readonly namespaces?: readonly string[];
  readonly gates?: FeatureGates;
  /** The largest JobSet that is accepted. */
  readonly limits?: SizeLimits;
}

export interface Operator {
  /** The handlers behind the hub's port, if there is one. */
  readonly hub: Pick<HubConnection, 'accept' | 'listMembers' | 'listGroups'> | undefined;
  /** Ends running reconciles and all streams. Another operator finishes their work. */
  stop(): Promise<void>;
}

/** Resolves when the caches hold the cluster's state and the controller acts on it. */
export async function startOperator(options: OperatorOptions): Promise<Operator> {
  const { namespaces, onlyManaged } = options.config;
  const caches = startCaches({ ...options, namespaces, onlyManaged });
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
 * Acts on caches that have synced, until it is stopped. The caches are its only memory of an earlier
 * operator.
 */
export function actOn(caches: OperatorCaches, options: OperatorOptions): Operator {
  const stopped = new AbortController();
  const informers = informersUntil(caches.informers, stopped.signal);
  const { client, eventClient = client } = options;
  const events = createEventRecorder({ ...options, client: eventClient, controller: 'jobset' });
  const jobWithUid = (uid: string) => withUid(informers.jobs, uid);
  const jobSetWithUid = (uid: string) => withUid(informers.jobSets, uid);
  reportLeftOut(caches.bounded, { ...options, events }, stopped.signal);
  followClaims(informers, { ...options, events, owners: { jobSetWithUid, jobWithUid } });
  const broken = (error: Error): void => {
    options.logger.error('the operator must end', { err: error });
    options.broken?.(error);
  };
  const feed = new RosterFeed({ roster: new Roster(jobWithUid), clock: options.clock, broken });
  const hub = options.hub && connectHub(options, options.hub, { ...informers, jobWithUid, feed });
  const { config } = options;
  const controller = startJobSetController({
    ...options,
    events,
    agentProgram: () => agentProgram(config, options.hub?.access()),
    agentDefaults: config.agentDefaults,
    gates: config.gates ?? DEFAULT_FEATURE_GATES,
    limits: config.limits ?? DEFAULT_SIZE_LIMITS,
    informers,
    feed,
    versions: caches.versions,
    definition: caches.definition,
    namespaceAnnotations: options.namespaceAnnotations ?? namespaceAnnotations(options),
    hasHub: hub !== undefined,
  });
  feed.follow(informers);
  caches.definition.subscribe(() => {
    for (const jobSet of informers.jobSets.store.values()) controller.enqueue(keyOf(jobSet));
  }, stopped.signal);
  // The other controller repairs the placement of all Pods, also of Lockstep's JobSets.
  const placement =
    config.onlyManaged === true
      ? undefined
      : startPlacementController({ ...options, events, pods: informers.livingPods });
  const authorities =
    options.hub &&
    publishHubAuthorities({
      ...options,
      events,
      namespaces: options.config.namespaces,
      jobSets: informers.jobSets,
      access: options.hub.access,
    });
  const stopMeasuring = measureRuns({ ...options, informers, roster: feed.roster });
  return {
    hub,
    stop: async () => {
      stopMeasuring();
      hub?.close();
      await Promise.all([controller.stop(), placement?.stop(), authorities?.stop()]);
      stopped.abort(new Error('the operator stopped'));
      await events.stop();
    },
  };
}

function followClaims(informers: Informers, options: ForeignClaimsOptions): void {
  const claims = new ForeignClaims(options);
  claims.follow(JOBS, informers.jobs);
  claims.follow(SERVICES, informers.services);
  claims.follow(PERSISTENT_VOLUME_CLAIMS, informers.claims);
  claims.follow(PODS, informers.livingPods);
  claims.follow(PODS, informers.succeededPods);
}

function agentProgram(config: OperatorConfig, hub: ServedHub | undefined): AgentProgram {
  const { agentImage, agentCommand, agentDelivery, agentResources } = config;
  const { nativeRestartRules = false, agentRights: grantsRights } = config;
  return {
    image: agentImage,
    nativeRestartRules,
    ...defined({
      hub,
      command: agentCommand,
      delivery: agentDelivery,
      resources: agentResources,
      grantsRights,
    }),
  };
}
