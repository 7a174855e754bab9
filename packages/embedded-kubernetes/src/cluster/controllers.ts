/** Starts the controllers of the embedded cluster. */

import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import {
  CONFIG_MAPS,
  type ConfigMap,
  NAMESPACES,
  type Namespace,
  PERSISTENT_VOLUME_CLAIMS,
  type PersistentVolumeClaim,
  SERVICE_ACCOUNTS,
  type ServiceAccount,
} from '@lockstep/kube/objects/core.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '@lockstep/kube/objects/custom-resource-definition.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import { LEASES, type Lease } from '@lockstep/kube/objects/lease.ts';
import { NODES, type Node } from '@lockstep/kube/objects/node.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import {
  createEventRecorder,
  type EventRecorder,
} from '@lockstep/kube/runtime/controller/event-recorder.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import type { MeasuredPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { startGarbageCollector } from './garbage-collector/garbage-collector.ts';
import { JOB_POD_INDEXES, startJobController } from './job-controller/job-controller.ts';
import { startTtlAfterFinished } from './job-controller/ttl-after-finished.ts';
import { startNamespaceController } from './namespace-controller/namespace-controller.ts';
import { NODE_POD_INDEXES, startNodeLifecycle } from './node-lifecycle/node-lifecycle.ts';
import { startScheduler } from './scheduler/scheduler.ts';
import {
  DEFAULT_SERVICE_ACCOUNT,
  ROOT_CERTIFICATE_CONFIG_MAP,
  startServiceAccountController,
} from './service-account-controller/service-account-controller.ts';
import { POD_CLAIM_INDEXES, startVolumeController } from './volume-controller/volume-controller.ts';

/**
 * The counterparts of kube-controller-manager and kube-scheduler, as far as Lockstep needs them.
 * They share informers and use only the API, so they run against any API server.
 */
export interface ControllersOptions extends MeasuredPorts {
  /** PEM with which Pods check the API server's certificate. */
  readonly rootCertificate: string;
  /** Removes the files of a claim's volume. */
  readonly removeVolume: (claim: Stored<PersistentVolumeClaim>) => Promise<void>;
  /** How long a node may be silent until it counts as lost; 40 s by default. */
  readonly nodeMonitorGraceMs?: number | undefined;
  /** Ends the start, which would wait for ever for an API server that does not answer. */
  readonly signal?: AbortSignal | undefined;
}

export interface Controllers {
  /** Ends all loops and requests. Nothing is lost, because all state is in the API. */
  stop(): Promise<void>;
}

/** Resolves once all caches are complete and all controllers run. */
export async function startControllers(options: ControllersOptions): Promise<Controllers> {
  const informers = startInformers(options);
  const stopInformers = async (): Promise<void> => {
    await Promise.all(Object.values(informers).map((informer) => informer.stop()));
  };
  try {
    const { signal } = options;
    await Promise.all(Object.values(informers).map((informer) => informer.whenSynced(signal)));
  } catch (error) {
    await stopInformers();
    throw error;
  }
  const jobEvents = recorderOf(options, 'job-controller');
  const schedulerEvents = recorderOf(options, 'default-scheduler');
  const nodeEvents = recorderOf(options, 'node-controller');
  const collectorEvents = recorderOf(options, 'garbage-collector-controller');
  const controllers = [
    startJobController({ ...options, ...informers, events: jobEvents }),
    startTtlAfterFinished({ ...options, ...informers }),
    startScheduler({ ...options, ...informers, events: schedulerEvents }),
    startGarbageCollector({
      ...options,
      events: collectorEvents,
      definitions: informers.definitions,
      startMetadataInformer: (resource) =>
        createInformer({ ...options, resource, metadataOnly: true }),
    }),
    startNamespaceController({ ...options, ...informers }),
    startServiceAccountController({ ...options, ...informers }),
    startVolumeController({ ...options, ...informers }),
    startNodeLifecycle({ ...options, ...informers, events: nodeEvents }),
  ];
  return {
    stop: async () => {
      await Promise.all(controllers.map((controller) => controller.stop()));
      const recorders = [jobEvents, schedulerEvents, nodeEvents, collectorEvents];
      await Promise.all(recorders.map((events) => events.stop()));
      await stopInformers();
    },
  };
}

interface Informers extends Readonly<Record<string, Informer<KubeObject>>> {
  readonly jobs: Informer<Job>;
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly leases: Informer<Lease>;
  readonly namespaces: Informer<Namespace>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly definitions: Informer<CustomResourceDefinition>;
  readonly serviceAccounts: Informer<ServiceAccount>;
  readonly rootCertificates: Informer<ConfigMap>;
}

function startInformers(options: ControllersOptions): Informers {
  const { client, clock, random, logger } = options;
  const shared = { client, clock, random, logger };
  return {
    jobs: createInformer<Job>({ ...shared, resource: JOBS }),
    pods: createInformer<Pod>({
      ...shared,
      resource: PODS,
      indexes: { ...JOB_POD_INDEXES, ...POD_CLAIM_INDEXES, ...NODE_POD_INDEXES },
    }),
    nodes: createInformer<Node>({ ...shared, resource: NODES }),
    leases: createInformer<Lease>({ ...shared, resource: LEASES, namespace: 'kube-node-lease' }),
    namespaces: createInformer<Namespace>({ ...shared, resource: NAMESPACES }),
    claims: createInformer<PersistentVolumeClaim>({
      ...shared,
      resource: PERSISTENT_VOLUME_CLAIMS,
    }),
    definitions: createInformer<CustomResourceDefinition>({
      ...shared,
      resource: CUSTOM_RESOURCE_DEFINITIONS,
    }),
    serviceAccounts: createInformer<ServiceAccount>({
      ...shared,
      resource: SERVICE_ACCOUNTS,
      fieldSelector: `metadata.name=${DEFAULT_SERVICE_ACCOUNT}`,
    }),
    rootCertificates: createInformer<ConfigMap>({
      ...shared,
      resource: CONFIG_MAPS,
      fieldSelector: `metadata.name=${ROOT_CERTIFICATE_CONFIG_MAP}`,
    }),
  };
}

function recorderOf(options: ControllersOptions, controller: string): EventRecorder {
  return createEventRecorder({ ...options, controller });
}
