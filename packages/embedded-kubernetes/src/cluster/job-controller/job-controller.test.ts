import type { Stored } from '@lockstep/kube/meta.ts';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { JOB_TRACKING_FINALIZER, type JobStatus } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { TransportError } from '@lockstep/kube/runtime/ports/transport.ts';
import { afterEach, expect, test } from 'vitest';
import { MemoryCluster } from '../memory-cluster.ts';

let cluster: MemoryCluster;

async function start(): Promise<MemoryCluster> {
  cluster = new MemoryCluster();
  await cluster.start();
  await cluster.addNode();
  return cluster;
}

afterEach(() => cluster.stop());

function indexOf(pod: Stored<Pod>): string | undefined {
  return pod.metadata.labels?.['batch.kubernetes.io/job-completion-index'];
}

function isTrue(status: JobStatus | undefined, type: string): boolean {
  return status?.conditions?.some((c) => c.type === type && c.status === 'True') === true;
}

async function finishAll(pods: readonly Stored<Pod>[], exitCode = 0): Promise<void> {
  for (const pod of pods) await cluster.finish(pod, exitCode);
}

const isDone = async (type: string): Promise<boolean> => isTrue((await cluster.job()).status, type);

async function eventsOf(kind: string): Promise<readonly string[]> {
  const { items } = await cluster.client.list(EVENTS, { namespace: 'default' });
  return items.filter((event) => event.regarding.kind === kind).map((event) => event.reason);
}

test('an Indexed Job runs one Pod for each index and ends Complete when all have succeeded', async () => {
  await start();
  await cluster.createJob();
  const pods = await cluster.running(3);
  expect(pods.map(indexOf)).toEqual(['0', '1', '2']);
  expect(pods.map((pod) => pod.spec.hostname)).toEqual(['train-0', 'train-1', 'train-2']);
  expect(pods[0]?.metadata.name).toMatch(/^train-0-[a-z0-9]{5}$/);
  await cluster.until(async () => (await cluster.job()).status?.ready === 3);
  await finishAll(pods);
  await cluster.until(() => isDone('Complete'));
  const { status } = await cluster.job();
  expect(status).toMatchObject({
    succeeded: 3,
    completedIndexes: '0-2',
    ready: 0,
    terminating: 0,
    uncountedTerminatedPods: {},
  });
  expect(status?.active).toBeUndefined();
  expect(isTrue(status, 'SuccessCriteriaMet')).toBe(true);
  const left = await cluster.pods();
  expect(left.flatMap((pod) => pod.metadata.finalizers ?? [])).toEqual([]);
  await cluster.until(async () => (await eventsOf('Job')).includes('Completed'));
  expect((await eventsOf('Job')).filter((reason) => reason === 'SuccessfulCreate')).toHaveLength(3);
});

test('a failed Pod is replaced after its back-off, until backoffLimit is exceeded', async () => {
  await start();
  await cluster.createJob({ completions: 2, parallelism: 2, backoffLimit: 1 });
  const [first] = await cluster.running(2);
  if (first === undefined) throw new Error('no Pod');
  await cluster.finish(first, 1);
  const failedMs = cluster.clock.monotonic();
  const replaced = await cluster.running(2);
  expect(cluster.clock.monotonic() - failedMs).toBeGreaterThanOrEqual(9_000);
  expect(replaced.map(indexOf)).toEqual(['0', '1']);
  await finishAll(replaced.slice(0, 1), 1);
  await cluster.until(() => isDone('Failed'));
  const { status } = await cluster.job();
  expect(status?.failed).toBe(3);
  expect(status?.conditions?.find((c) => c.type === 'Failed')).toMatchObject({
    reason: 'BackoffLimitExceeded',
  });
});

test('suspend deletes the Pods and counts none of them, resume starts new ones', async () => {
  await start();
  const job = await cluster.createJob();
  await cluster.running(3);
  const at = { namespace: 'default', name: 'train' };
  const suspend = (value: boolean) =>
    cluster.client.patch(
      { group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job', namespaced: true },
      at,
      { type: 'merge', patch: { spec: { suspend: value } } },
    );
  await suspend(true);
  await cluster.until(async () => (await cluster.pods()).length === 0);
  await cluster.until(async () => (await cluster.job()).status?.terminating === 0);
  expect((await cluster.job()).status).toMatchObject({ ready: 0 });
  expect((await cluster.job()).status?.failed).toBeUndefined();
  expect((await cluster.job()).status?.startTime).toBeUndefined();
  await suspend(false);
  await cluster.running(3);
  await cluster.until(async () => (await eventsOf('Job')).includes('Resumed'));
  expect((await cluster.job()).metadata.uid).toBe(job.metadata.uid);
});

test('a Pod deleted by hand is replaced only when it is gone, under podReplacementPolicy Failed', async () => {
  await start();
  await cluster.createJob({ completions: 1, parallelism: 1, podReplacementPolicy: 'Failed' });
  const [pod] = await cluster.running(1);
  const { name = '', uid } = pod?.metadata ?? {};
  let most = 0;
  await cluster.client.delete(
    { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true },
    { namespace: 'default', name },
  );
  await cluster.until(async () => {
    const pods = await cluster.pods();
    most = Math.max(most, pods.length);
    return pods.some((each) => each.metadata.uid !== uid && each.status?.phase === 'Running');
  });
  expect(most).toBe(1);
  await cluster.until(async () => (await cluster.job()).status?.failed === 1);
});

test('no Pod is created twice while the answers to creations are lost', async () => {
  await start();
  let lost = 0;
  cluster.intercept = async (request, send) => {
    const answer = await send();
    if (request.method !== 'POST' || !request.path.endsWith('/pods') || lost >= 3) return answer;
    lost++;
    throw new TransportError('the answer is lost', { code: 'ECONNRESET' });
  };
  await cluster.createJob();
  await cluster.running(3);
  await cluster.clock.advance(30_000);
  expect([lost, (await cluster.pods()).length]).toEqual([3, 3]);
});

test('no Pod is created twice while the watch of Pods lags behind', async () => {
  await start();
  cluster.intercept = async (request, send) => {
    const answer = await send();
    const isWatch = request.path.includes('watch=true') && request.path.startsWith('/api/v1/pods?');
    if (!isWatch || answer.body instanceof Uint8Array) return answer;
    return { ...answer, body: delayed(answer.body, 3000) };
  };
  await cluster.stopControllers();
  await cluster.startControllers();
  await cluster.createJob();
  await cluster.clock.advance(20_000);
  expect(await cluster.pods()).toHaveLength(3);
  expect(
    cluster.requests.filter((line) => line === 'POST /api/v1/namespaces/default/pods'),
  ).toHaveLength(3);
});

async function* delayed(chunks: AsyncIterable<Uint8Array>, delayMs: number) {
  for await (const chunk of chunks) {
    await new Promise<void>((resolve) => cluster.clock.setTimer(delayMs, resolve));
    yield chunk;
  }
}

test('Pods of a Job that is gone lose the finalizer of the Job controller', async () => {
  await start();
  await cluster.stopControllers();
  const job = await cluster.createJob();
  await cluster.client.create(
    { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'orphan',
        namespace: 'default',
        finalizers: [JOB_TRACKING_FINALIZER],
        ownerReferences: [
          { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'another', controller: true },
        ],
      },
      spec: { containers: [{ name: 'main', image: 'none' }] },
    },
  );
  expect(job.metadata.uid).not.toBe('another');
  await cluster.startControllers();
  await cluster.until(async () => {
    const orphan = (await cluster.pods()).find((pod) => pod.metadata.name === 'orphan');
    return orphan === undefined || (orphan.metadata.finalizers ?? []).length === 0;
  });
});

test('a crash at any write of a Job changes nothing in its outcome', async () => {
  let writes = 0;
  for (let crashAt = 1; crashAt === 1 || crashAt <= writes; crashAt++) {
    await start();
    writes = await runWithCrash(crashAt);
    const { status } = await cluster.job();
    expect({ crashAt, ...status }).toMatchObject({
      crashAt,
      succeeded: 3,
      failed: 1,
      completedIndexes: '0-2',
      uncountedTerminatedPods: {},
    });
    const pods = await cluster.pods();
    expect(pods).toHaveLength(4);
    expect(pods.flatMap((pod) => pod.metadata.finalizers ?? [])).toEqual([]);
    await cluster.stop();
  }
  expect(writes).toBeGreaterThan(10);
  await start();
});

/** Plays one failure and three successes; the controller crashes after write `crashAt`. */
async function runWithCrash(crashAt: number): Promise<number> {
  let writes = 0;
  let isDown = false;
  cluster.intercept = async (request, send) => {
    const isWrite = request.method !== 'GET' && !request.path.includes('/events');
    if (isDown && request.method !== 'GET') throw new TransportError('the process is gone');
    const answer = await send();
    if (isWrite && ++writes === crashAt) {
      isDown = true;
      throw new TransportError('the process is gone');
    }
    return answer;
  };
  const restartIfDown = async (): Promise<void> => {
    if (!isDown) return;
    await cluster.stopControllers();
    isDown = false;
    await cluster.startControllers();
  };
  await cluster.createJob();
  let hasFailed = false;
  for (let round = 0; round < 40 && !(await isDone('Complete')); round++) {
    await cluster.clock.advance(5000);
    await restartIfDown();
    for (const pod of (await cluster.pods()).filter((each) => each.status?.phase === 'Running')) {
      await cluster.finish(pod, hasFailed ? 0 : 1);
      hasFailed = true;
    }
  }
  await cluster.clock.advance(5000);
  return writes;
}

test('a finished Job with a TTL goes with its Pods when that has passed', async () => {
  await start();
  const job = { completions: 1, parallelism: 1, ttlSecondsAfterFinished: 30 };
  await cluster.createJob(job);
  await finishAll(await cluster.running(1));
  await cluster.until(() => isDone('Complete'));
  await cluster.clock.advance(20_000);
  expect(await isDone('Complete')).toBe(true);
  await cluster.clock.advance(15_000);
  await expect(cluster.job()).rejects.toThrow('not found');
  await cluster.until(async () => (await cluster.pods()).length === 0);
  const { signal } = new AbortController();
  const page = { method: 'GET', path: '/metrics', headers: {}, signal } as const;
  const { body } = await cluster.metrics.handler(page);
  if (!(body instanceof Uint8Array)) throw new Error('a page was expected');
  expect(Buffer.from(body).toString()).toContain(
    'ttl_after_finished_controller_job_deletion_duration_seconds_count 1\n',
  );
});

test('a code that the Pod failure policy calls fatal fails the Job at its first Pod', async () => {
  await start();
  const onExitCodes = { operator: 'In', values: [42] } as const;
  const podFailurePolicy = { rules: [{ action: 'FailJob', onExitCodes }] } as const;
  await cluster.createJob({ completions: 2, parallelism: 2, podFailurePolicy });
  const [first] = await cluster.running(2);
  if (first === undefined) throw new Error('no Pod');
  await cluster.finish(first, 42);
  await cluster.until(() => isDone('Failed'));
  const { status } = await cluster.job();
  expect(status?.conditions?.find(({ type }) => type === 'Failed')).toMatchObject({
    reason: 'PodFailurePolicy',
    message: expect.stringContaining('with exit code 42 matching FailJob rule at index 0'),
  });
  expect(status?.failed).toBe(2);
});
