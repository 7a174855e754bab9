/**
 * Measures the Job controller on the embedded API server, in memory, without sockets: all Pods of
 * one Job are created, then all succeed and are counted. The rates of a small and a large Job, side
 * by side, show whether its work grows faster than the number of Pods.
 */
import {
  createApiServer,
  JOB_POD_INDEXES,
  MemoryStorage,
  startJobController,
} from '@lockstep/embedded-kubernetes/in-memory';
import { SERVICE_ACCOUNTS } from '@lockstep/kube/objects/core.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import { forEachConcurrently } from '@lockstep/kube/runtime/concurrency.ts';
import { createEventRecorder } from '@lockstep/kube/runtime/controller/event-recorder.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import { handlerTransport } from '@lockstep/kube/runtime/memory/memory-transport.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { type Row, spread } from './table.ts';

const ROUNDS = 3;
const POD_COUNTS = [500, 5000];
/** What the kubelets of a busy cluster would have in flight. */
const WRITES_IN_FLIGHT = 50;
const NAMESPACE = 'default';

export async function benchJobController(report: (row: Row) => void): Promise<void> {
  for (const pods of POD_COUNTS) {
    const created: number[] = [];
    const counted: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const seconds = await oneJob(pods);
      created.push(pods / seconds.created);
      counted.push(pods / seconds.counted);
    }
    const row = (benchmark: string, values: readonly number[]): void =>
      report({
        benchmark,
        unit: 'per second',
        ...spread(values),
      });
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
  const runtime = { clock: nodeClock, random: systemRandom, logger: SILENT };
  const server = createApiServer({ storage: new MemoryStorage(), ...runtime });
  await server.start();
  const certificate = { commonName: 'bench', organizations: ['system:masters'] };
  const transport = handlerTransport(server.handler, { address: '127.0.0.1', certificate });
  const client = createClient({ transport, ...runtime, userAgent: 'lockstep-bench' });
  const shared = { client, ...runtime };
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
  await server.close();
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
