/**
 * Measures the Job controller on the embedded API server, in memory, without sockets: all Pods of
 * one Job are created, then all succeed and are counted. The rates of a small and a large Job, side
 * by side, show whether its work grows faster than the number of Pods.
 */
import { JOB_POD_INDEXES, startJobController } from '@lockstep/embedded-kubernetes/in-memory';
import { SERVICE_ACCOUNTS } from '@lockstep/kube/objects/core.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { forEachConcurrently } from '@lockstep/kube/runtime/concurrency.ts';
import { createEventRecorder } from '@lockstep/kube/runtime/controller/event-recorder.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import { PORTS } from '../cli/ports.ts';
import { startMemoryServer } from './memory-server.ts';
import { type Report, spread } from './table.ts';

const ROUNDS = 3;
const POD_COUNTS = [500, 5000];
/** What the kubelets of a busy cluster would have in flight. */
const WRITES_IN_FLIGHT = 50;
const NAMESPACE = 'default';

export async function benchJobController(report: Report): Promise<void> {
  for (const pods of POD_COUNTS) {
    const created: number[] = [];
    const counted: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const seconds = await oneJob(pods);
      created.push(pods / seconds.created);
      counted.push(pods / seconds.counted);
    }
    const row = (benchmark: string, values: readonly number[]): void =>
      report({ benchmark, unit: 'per second', ...spread(values) });
    row(`Job controller: Pods created (Job of ${pods})`, created);
    row(`Job controller: Pods ended and counted (Job of ${pods})`, counted);
  }
}

interface Phases {
  /** Until the Job shows all Pods as active. */
  readonly created: number;
  /** From the first Pod's success until the Job is Complete. */
  readonly counted: number;
}

async function oneJob(pods: number): Promise<Phases> {
  const { client, close } = await startMemoryServer();
  const shared = { client, ...PORTS };
  const jobs = createInformer<Job>({ ...shared, resource: JOBS });
  const podCache = createInformer<Pod>({ ...shared, resource: PODS, indexes: JOB_POD_INDEXES });
  await Promise.all([jobs.whenSynced(), podCache.whenSynced()]);
  const events = createEventRecorder({ ...shared, controller: 'job-controller' });
  const controller = startJobController({ ...shared, jobs, pods: podCache, events });
  const startMs = performance.now();
  await createJob(client, pods);
  await until(jobs, (job) => job.status?.active === pods);
  const createdMs = performance.now();
  const { items } = await client.list(PODS, { namespace: NAMESPACE });
  await forEachConcurrently(items, WRITES_IN_FLIGHT, async (pod) => {
    const at = { namespace: NAMESPACE, name: pod.metadata.name };
    const patch = { status: { phase: 'Succeeded' } };
    await client.patch(PODS, at, { type: 'merge', patch }, { subresource: 'status' });
  });
  await until(jobs, (job) => job.status?.completionTime !== undefined);
  const countedMs = performance.now();
  await controller.stop();
  await events.stop();
  await Promise.all([jobs.stop(), podCache.stop()]);
  await close();
  return { created: (createdMs - startMs) / 1000, counted: (countedMs - createdMs) / 1000 };
}

async function createJob(client: Client, pods: number): Promise<void> {
  const metadata = { name: 'default', namespace: NAMESPACE };
  await client.create(SERVICE_ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  const containers = [{ name: 'worker', image: 'none' }];
  await client.create(JOBS, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'train', namespace: NAMESPACE },
    spec: {
      completionMode: 'Indexed',
      completions: pods,
      parallelism: pods,
      template: { spec: { restartPolicy: 'Never', containers } },
    },
  });
}

function until(jobs: Informer<Job>, condition: (job: Job) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (job: Job): void => {
      if (condition(job)) resolve();
    };
    jobs.subscribe({ added: look, updated: look });
  });
}
