import type { KubeObject, Stored } from '@lockstep/kube/meta.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import type { HttpHandler } from '@lockstep/kube/runtime/ports/transport.ts';
import { failure } from '@lockstep/kube/status.ts';
import { beforeEach, expect, test } from 'vitest';
import { authorizedPage } from './authorized-page.ts';

const TTL_MS = 60_000;

/** Knows the token `good`, and lets its owner read what `allowed` contains. */
class Cluster extends MemoryClient {
  allowed: readonly string[] = ['/metrics'];
  readonly reviewed: object[] = [];

  override async create<T extends KubeObject>(of: Resource<T>, object: T): Promise<Stored<T>> {
    this.calls.push(of.kind);
    await this.before('POST', of.plural);
    this.reviewed.push(object);
    const { spec } = object as unknown as {
      spec: { token?: string; nonResourceAttributes?: { path: string } };
    };
    const user = { username: 'prometheus', groups: ['scrapers'], uid: 'u' };
    const status =
      spec.nonResourceAttributes === undefined
        ? { authenticated: spec.token === 'good', user }
        : { allowed: this.allowed.includes(spec.nonResourceAttributes.path) };
    return { ...object, status } as unknown as Stored<T>;
  }
}

let client: Cluster;
let clock: VirtualClock;
let page: HttpHandler;

beforeEach(() => {
  client = new Cluster();
  clock = new VirtualClock();
  const served: HttpHandler = () =>
    Promise.resolve({ status: 200, headers: {}, body: Buffer.from('jobset_total 1\n') });
  page = authorizedPage(served, { client, clock, logger: new MemoryLogger() });
});

async function read(authorization?: string, path = '/metrics'): Promise<number> {
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  const { signal } = new AbortController();
  return (await page({ method: 'GET', path, headers, signal })).status;
}

test('shows itself to clients that the cluster allows, and asks about each now and then', async () => {
  expect(await read('Bearer good')).toBe(200);
  expect(await read('bearer good')).toBe(200);
  expect(client.calls).toEqual(['TokenReview', 'SubjectAccessReview']);
  expect(client.reviewed[1]).toMatchObject({
    spec: {
      user: 'prometheus',
      uid: 'u',
      groups: ['scrapers'],
      nonResourceAttributes: { path: '/metrics', verb: 'get' },
    },
  });
  client.allowed = [];
  await clock.advance(TTL_MS);
  expect(await read('Bearer good')).toBe(403);
});

test.each<[string, string | undefined, number]>([
  ['nobody', undefined, 401],
  ['a password', 'Basic Z29vZDo=', 401],
  ['a token that the cluster does not know', 'Bearer bad', 401],
])('is closed to %s', async (_, authorization, status) => {
  expect(await read(authorization)).toBe(status);
});

test('asks about the path that is read, without its query', async () => {
  expect(await read('Bearer good', '/metrics?x=/metrics')).toBe(200);
  expect(await read('Bearer good', '/debug')).toBe(403);
});

test('stays closed while the cluster does not answer, and opens again', async () => {
  client.before = () => {
    throw failure('InternalError', 'etcd is slow');
  };
  expect(await read('Bearer good')).toBe(500);
  client.before = () => undefined;
  expect(await read('Bearer good')).toBe(200);
});

test('passes no flood of tokens on', async () => {
  const answers: (() => void)[] = [];
  client.before = () => new Promise<void>((resolve) => answers.push(resolve));
  const first = Array.from({ length: 8 }, (_, i) => read(`Bearer ${i}`));
  expect(await read('Bearer more')).toBe(429);
  for (const resolve of answers) resolve();
  expect(await Promise.all(first)).toEqual(Array.from({ length: 8 }, () => 401));
});

test('remembers who may read it, however many others ask', async () => {
  await read('Bearer good');
  for (let i = 0; i < 300; i++) await read(`Bearer ${i}`);
  client.calls.length = 0;
  expect(await read('Bearer good')).toBe(200);
  expect(client.calls).toEqual([]);
});
