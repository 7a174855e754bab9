/** What the Job controller does when its writes to Pods are refused. */

import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { afterEach, expect, test } from 'vitest';
import { MemoryCluster } from '../memory-cluster.ts';

let cluster: MemoryCluster;

afterEach(() => cluster.stop());

function refusal(reason: string, code: number, details: object = {}): HttpResponse {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, details };
  const body = Buffer.from(JSON.stringify({ ...status, message: 'exceeded quota' }));
  return { status: code, headers: { 'content-type': 'application/json' }, body };
}

/**
 * Answers creations of Pods with `answer` while `isRefused` holds; returns their times in seconds.
 */
function refuseCreations(answer: HttpResponse, isRefused: () => boolean): readonly number[] {
  const times: number[] = [];
  cluster.intercept = async (request, send) => {
    const isCreation = request.method === 'POST' && request.path.endsWith('/pods');
    if (isCreation) times.push(Math.round(cluster.clock.monotonic() / 1000));
    return isCreation && isRefused() ? answer : send();
  };
  return times;
}

async function warnings(): Promise<readonly string[]> {
  const { items } = await cluster.client.list(EVENTS, { namespace: 'default' });
  return items
    .filter(({ type, regarding }) => type === 'Warning' && regarding.kind === 'Job')
    .map(({ reason, note, series }) => `${reason}: ${note} x ${series?.count ?? 1}`);
}

test('retries a failed creation after 1, 2, 4, ... s, one Pod at a time, and reports why', async () => {
  cluster = new MemoryCluster();
  await cluster.start();
  let isRefused = true;
  const times = refuseCreations(refusal('Forbidden', 403), () => isRefused);
  await cluster.createJob();
  await cluster.clock.advance(20_000);
  const [first = 0, ...rest] = times;
  expect(rest.map((time) => time - first)).toEqual([1, 3, 7, 15]);
  expect((await cluster.job()).status?.active).toBeUndefined();
  isRefused = false;
  await cluster.until(async () => (await cluster.pods()).length === 3);
  expect((await cluster.job()).status?.active).toBe(3);
  expect(await warnings()).toEqual([
    expect.stringMatching(/^FailedCreate: .*exceeded quota x \d$/),
  ]);
});

test('a change of the Job does not hurry a creation that is to wait', async () => {
  cluster = new MemoryCluster();
  await cluster.start();
  const times = refuseCreations(refusal('Forbidden', 403), () => true);
  await cluster.createJob();
  await cluster.clock.advance(8000);
  const tried = times.length;
  const at = { namespace: 'default', name: 'train' };
  const patch = { metadata: { annotations: { a: 'b' } } };
  await cluster.client.patch(JOBS, at, { type: 'merge', patch });
  await cluster.clock.advance(1000);
  expect(times).toHaveLength(tried);
});

test('reports nothing when the namespace is being deleted', async () => {
  cluster = new MemoryCluster();
  await cluster.start();
  const causes = [{ reason: 'NamespaceTerminating', message: '', field: 'metadata.namespace' }];
  refuseCreations(refusal('Forbidden', 403, { causes }), () => true);
  await cluster.createJob();
  await cluster.clock.advance(10_000);
  expect(await warnings()).toEqual([]);
});

test('a Pod that cannot be deleted is reported, and tried again', async () => {
  cluster = new MemoryCluster();
  await cluster.start();
  await cluster.addNode();
  await cluster.createJob();
  await cluster.running(3);
  let refused = 0;
  cluster.intercept = async (request, send) => {
    const isDeletion = request.method === 'DELETE' && request.path.includes('/pods/');
    if (!isDeletion || refused >= 2) return send();
    refused++;
    return refusal('Forbidden', 403);
  };
  const patch = { spec: { parallelism: 2 } };
  const at = { namespace: 'default', name: 'train' };
  await cluster.client.patch(JOBS, at, { type: 'merge', patch });
  await cluster.until(async () => (await cluster.pods()).length === 2);
  expect(refused).toBe(2);
  expect(await warnings()).toEqual([expect.stringContaining('FailedDelete: Error deleting: ')]);
});
