/** Objects of Kueue for a suite: a queue with a quota, and what Kueue says of a group in it. */
import type { Condition, KubeObject, Stored } from '@lockstep/kube/meta.ts';
import { type Resource, resource } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { expect } from 'vitest';
import type { JobSet } from '../../src/jobset/jobset.ts';
import { KUEUE_QUEUE_NAME } from '../../src/jobset/names.ts';
import { apply } from './neighbour.fixture.ts';

const API = 'kueue.x-k8s.io/v1beta2';
const TIMEOUT_MS = 90_000;

export interface Workload extends KubeObject {
  readonly spec: {
    readonly active?: boolean;
    readonly podSets: readonly { readonly name: string; readonly count: number }[];
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly admission?: object;
    readonly reclaimablePods?: readonly { readonly name: string; readonly count: number }[];
    readonly requeueState?: { readonly count?: number };
  };
}
export const WORKLOADS: Resource<Workload> = resource(API, 'workloads', 'Workload');

const KINDS = {
  ResourceFlavor: resource(API, 'resourceflavors', 'ResourceFlavor', 'Cluster'),
  ClusterQueue: resource(API, 'clusterqueues', 'ClusterQueue', 'Cluster'),
  LocalQueue: resource(API, 'localqueues', 'LocalQueue'),
  WorkloadPriorityClass: resource(
    API,
    'workloadpriorityclasses',
    'WorkloadPriorityClass',
    'Cluster',
  ),
  Topology: resource(API, 'topologies', 'Topology', 'Cluster'),
  AdmissionCheck: resource(API, 'admissionchecks', 'AdmissionCheck', 'Cluster'),
  MultiKueueConfig: resource(API, 'multikueueconfigs', 'MultiKueueConfig', 'Cluster'),
  MultiKueueCluster: resource(API, 'multikueueclusters', 'MultiKueueCluster', 'Cluster'),
} as const;

/** What each worker of a group asks for. */
const CPU = '100m';

export class Queues {
  readonly #client: Client;
  readonly #made: [Resource, { readonly namespace?: string; readonly name: string }][] = [];

  constructor(client: Client) {
    this.#client = client;
  }

  async make(kind: keyof typeof KINDS, name: string, content: object): Promise<void> {
    const of = KINDS[kind];
    const at = of.namespaced ? { namespace: 'default', name } : { name };
    await apply(this.#client, of, { apiVersion: API, kind, metadata: at, ...content });
    this.#made.push([of, at]);
  }

  /** A queue with a quota for a number of workers of each flavor, in order. */
  async makeQueue(
    name: string,
    flavors: readonly (readonly [flavor: string, workers: number])[],
    more: object = {},
  ): Promise<void> {
    const spec = {
      namespaceSelector: {},
      preemption: { withinClusterQueue: 'LowerPriority' },
      resourceGroups: [
        {
          coveredResources: ['cpu'],
          flavors: flavors.map(([flavor, workers]) => ({
            name: flavor,
            resources: [{ name: 'cpu', nominalQuota: `${100 * workers}m` }],
          })),
        },
      ],
      ...more,
    };
    await this.make('ClusterQueue', name, { spec });
    await this.make('LocalQueue', name, { spec: { clusterQueue: name } });
  }

  /** Waits until Kueue admits from the queue. */
  async untilActive(name: string): Promise<void> {
    for (const of of [KINDS.ClusterQueue, KINDS.LocalQueue]) {
      const at = of.namespaced ? { namespace: 'default', name } : { name };
      await until(
        `${of.kind} ${name} is active`,
        async () => {
          const { status } = (await this.#client.get(of, at)) as Workload;
          const active = { type: 'Active', status: 'True' };
          expect(status?.conditions).toContainEqual(expect.objectContaining(active));
        },
        TIMEOUT_MS,
      );
    }
  }

  /** While Kueue runs: it holds back what is in use. */
  async remove(): Promise<void> {
    for (const [of, at] of this.#made.splice(0).reverse()) {
      await this.#client.delete(of, at);
      await until(
        `${at.name} is gone`,
        async () => {
          const { items } = await this.#client.list(of, {
            fieldSelector: `metadata.name=${at.name}`,
          });
          expect(items).toEqual([]);
        },
        TIMEOUT_MS,
      );
    }
  }

  /** The workload that Kueue made for a JobSet or TrainJob. */
  async workload(owner: string): Promise<Stored<Workload>> {
    const { items } = await this.#client.list(WORKLOADS, { namespace: 'default' });
    const [found] = items.filter(
      ({ metadata }) =>
        metadata.deletionTimestamp === undefined &&
        metadata.ownerReferences?.some(({ name }) => name === owner),
    );
    if (found === undefined) throw new Error(`no workload of ${owner}`);
    return found;
  }

  async condition(owner: string, type: string): Promise<Condition | undefined> {
    const { status } = await this.workload(owner);
    return status?.conditions?.find((each) => each.type === type);
  }

  /** Waits until a condition of the workload has this state, and this reason if one is given. */
  async until(owner: string, type: string, state: 'True' | 'False', reason?: string) {
    await until(
      `${owner} has ${type}=${state} ${reason ?? ''}`,
      async () => {
        const expected = { status: state, ...(reason === undefined ? {} : { reason }) };
        expect(await this.condition(owner, type)).toMatchObject(expected);
      },
      TIMEOUT_MS,
    );
  }

  /** Takes a group out of its queue, and lets it queue again. */
  async setActive(owner: string, active: boolean): Promise<void> {
    const { metadata } = await this.workload(owner);
    const at = { namespace: 'default', name: metadata.name };
    const patch = { spec: { active } };
    await this.#client.patch(WORKLOADS, at, { type: 'merge', patch });
  }
}

/** The JobSet in a queue, with an agreed amount of resources for each worker. */
export function queued(queue: string, more: { readonly priority?: string } = {}) {
  return (jobSet: JobSet): JobSet => ({
    ...jobSet,
    metadata: {
      ...jobSet.metadata,
      labels: {
        ...jobSet.metadata?.labels,
        [KUEUE_QUEUE_NAME]: queue,
        ...(more.priority === undefined ? {} : { 'kueue.x-k8s.io/priority-class': more.priority }),
      },
    },
    spec: {
      ...jobSet.spec,
      replicatedJobs: (jobSet.spec.replicatedJobs ?? []).map((job) => withCpu(job)),
    },
  });
}

type ReplicatedJob = NonNullable<JobSet['spec']['replicatedJobs']>[number];

function withCpu(job: ReplicatedJob): ReplicatedJob {
  return withPod(job, (pod) => ({
    ...pod,
    containers: pod.containers.map((container) => ({
      ...container,
      resources: { requests: { cpu: CPU } },
    })),
  }));
}

type PodSpec = ReplicatedJob['template']['spec']['template']['spec'];

/** The ReplicatedJob with another Pod template. */
export function withPod(
  job: ReplicatedJob,
  edit: (pod: PodSpec) => PodSpec,
  annotations: Readonly<Record<string, string>> = {},
): ReplicatedJob {
  const { spec } = job.template;
  const template = {
    ...spec.template,
    metadata: { ...spec.template.metadata, annotations },
    spec: edit(spec.template.spec),
  };
  return { ...job, template: { ...job.template, spec: { ...spec, template } } };
}
