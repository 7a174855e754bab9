/**
 * The operator's caches of the cluster. A replica fills them whether it leads or not. Pods are
 * watched as metadata only, in two streams: living ones and succeeded ones.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { KubeObject, PartialObjectMetadata, Stored } from '@lockstep/kube/meta.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import { PERSISTENT_VOLUME_CLAIMS, SERVICES, type Service } from '@lockstep/kube/objects/core.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import {
  createInformer,
  subscribedUntil,
  withoutManagedFields,
} from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import type { ManagedScope } from '../../jobset/manager.ts';
import { ownerKey, ownerOf } from '../../jobset/membership.ts';
import { JOBSET_NAME } from '../../jobset/names.ts';
import { asRecorded } from '../../jobset/overrides/recorded-annotations.ts';
import { isGroup } from '../../jobset/policies/restart-strategy.ts';
import { BoundedJobSets } from './bounded-jobsets.ts';
import { boundedMetadata } from './bounded-metadata.ts';
import type { BudgetLimits } from './jobset-budget.ts';
import { keptJobs } from './kept-job.ts';
import { LIVING, SUCCEEDED } from './pod-reads.ts';
import { PodVersions } from './pod-versions.ts';
import { StoredDefinition } from './stored-definition.ts';

export interface OperatorCaches {
  readonly informers: Informers;
  /** Recent versions of Pods; a replica that does not lead yet collects them too. */
  readonly versions: PodVersions;
  readonly definition: StoredDefinition;
  /** Says which JobSets `informers` leaves out. */
  readonly bounded: BoundedJobSets;
  hasSynced(): boolean;
  /** Resolves when they hold the cluster's state; rejects with the signal's reason. */
  whenSynced(signal?: AbortSignal): Promise<void>;
  /** Continues over new connections, which are known to be alive. */
  reconnect(): void;
  stop(): Promise<void>;
}

export interface Informers {
  readonly jobSets: Informer<JobSet>;
  readonly jobs: Informer<Job>;
  readonly services: Informer<Service>;
  readonly claims: Informer<PartialObjectMetadata>;
  readonly livingPods: Informer<PartialObjectMetadata>;
  readonly succeededPods: Informer<PartialObjectMetadata>;
}

export interface CacheOptions extends ManagedScope, MeasuredPorts {
  /** By default `JOBSET_LIMITS`. */
  readonly jobSetLimits?: BudgetLimits | undefined;
  /** All namespaces when absent. */
  readonly namespaces?: readonly string[] | undefined;
}

/** Begins to follow the cluster. */
export function startCaches(options: CacheOptions): OperatorCaches {
  const bounded = new BoundedJobSets(options);
  const informers = startInformers(options, bounded);
  const all = Object.values(informers);
  const versions = new PodVersions(options.clock);
  const definition = new StoredDefinition(options);
  informers.livingPods.subscribe({
    updated: ({ metadata }) => versions.saw(metadata.uid, metadata.resourceVersion),
  });
  return {
    informers,
    versions,
    definition,
    bounded,
    hasSynced: () =>
      definition.facts !== undefined && all.every((informer) => informer.hasSynced()),
    whenSynced: async (signal) => {
      const filled = all.map((informer) => informer.whenSynced(signal));
      await Promise.all([...filled, definition.whenKnown()]);
    },
    reconnect: () => {
      for (const informer of [...all, definition]) informer.reconnect();
    },
    stop: async () => {
      await Promise.all([...all, definition].map((informer) => informer.stop()));
    },
  };
}

/** Index of the Jobs: by `ownerKey` of the JobSet that controls them. */
export const JOBS_BY_OWNER = 'jobset';

/** Finds objects in any namespace; `membershipOf` decides whether they belong together. */
const BY_UID = 'uid';

/** The object with that UID, in any namespace. */
export function withUid<T extends KubeObject>({ store }: Informer<T>, uid: string) {
  for (const object of store.byIndex(BY_UID, uid)) return object;
  return undefined;
}

function startInformers(shared: CacheOptions, bounded: BoundedJobSets): Informers {
  const pods = {
    ...shared,
    resource: PODS,
    labelSelector: JOBSET_NAME,
    metadataOnly: true,
    transform: boundedMetadata(),
  } as const;
  return {
    jobSets: createInformer<JobSet>({
      ...shared,
      resource: JOBSETS,
      transform: (jobSet) => asRecorded(withoutManagedFields(jobSet)),
      keeps: (jobSet) => bounded.keeps(jobSet),
      through: (source) => bounded.of(source),
      indexes: { [GROUPS_BY_NAMESPACE]: groupNamespaces, [BY_UID]: uidOf },
    }),
    jobs: createInformer<Job>({
      ...shared,
      resource: JOBS,
      transform: keptJobs(),
      indexes: {
        [JOBS_BY_OWNER]: (job) => {
          const owner = ownerOf(job);
          return owner === undefined ? [] : [ownerKey(owner)];
        },
        [BY_UID]: uidOf,
      },
    }),
    services: createInformer<Service>({
      ...shared,
      resource: SERVICES,
      transform: withSelectorOnly,
    }),
    claims: createInformer({
      ...shared,
      resource: PERSISTENT_VOLUME_CLAIMS,
      labelSelector: JOBSET_NAME,
      metadataOnly: true,
      transform: boundedMetadata(),
    }),
    livingPods: createInformer({
      ...pods,
      fieldSelector: LIVING,
    }),
    succeededPods: createInformer({
      ...pods,
      fieldSelector: SUCCEEDED,
    }),
  };
}

/**
 * A view of the caches for an operator that may end before they do: its subscriptions end with the
 * signal.
 */
export function informersUntil(informers: Informers, until: AbortSignal): Informers {
  return {
    jobSets: subscribedUntil(informers.jobSets, until),
    jobs: subscribedUntil(informers.jobs, until),
    services: subscribedUntil(informers.services, until),
    claims: subscribedUntil(informers.claims, until),
    livingPods: subscribedUntil(informers.livingPods, until),
    succeededPods: subscribedUntil(informers.succeededPods, until),
  };
}

/** The cache holds all Services of a cluster, for their names, so it keeps little of each. */
function withSelectorOnly({ spec, ...service }: Stored<Service>): Stored<Service> {
  const { selector, clusterIP } = spec ?? {};
  const { annotations: _, ...metadata } = withoutManagedFields(service).metadata;
  return {
    apiVersion: service.apiVersion,
    kind: service.kind,
    metadata,
    spec: defined({ selector, clusterIP }),
  };
}

function uidOf({ metadata }: Stored<KubeObject>): readonly string[] {
  return [metadata.uid];
}

/**
 * Index of the informer of JobSets: the namespace of each that restarts in place and is not over.
 */
export const GROUPS_BY_NAMESPACE = 'group-namespace';

export function groupNamespaces(jobSet: Stored<JobSet>): readonly string[] {
  return isGroup(jobSet) ? [namespaceOf(jobSet.metadata)] : [];
}
