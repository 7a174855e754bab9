import { TestServer } from '@lockstep/embedded-kubernetes/in-memory';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import { API_PATIENCE_MS } from '@lockstep/kube/runtime/client/passing-failures.ts';
import { DeadlineError } from '@lockstep/kube/runtime/deadline.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { TransportError } from '@lockstep/kube/runtime/ports/transport.ts';
import { type ApiStatusError, failure, failureWithoutReason } from '@lockstep/kube/status.ts';
import { expect, it } from 'vitest';
import { installCrd } from './crd-installation.ts';

/** An installation that starts against an API server which a test can disturb. */
class Scene {
  readonly server: TestServer;
  readonly client: Client;
  readonly logger = new MemoryLogger();

  private constructor(server: TestServer) {
    const { clock, transport } = server;
    const random = new SeededRandom(3);
    this.server = server;
    this.client = createClient({ transport, clock, random, userAgent: 'test' });
  }

  static async start(): Promise<Scene> {
    return new Scene(await TestServer.start());
  }

  /** Resolves with the time that it took, in milliseconds. */
  async install(): Promise<number> {
    const { clock } = this.server;
    const beginMs = clock.monotonic();
    let isDone = false;
    const done = installCrd({
      client: this.client,
      clock,
      random: new SeededRandom(5),
      logger: this.logger,
      signal: new AbortController().signal,
    }).finally(() => {
      isDone = true;
    });
    done.catch(() => undefined);
    await clock.runUntil(() => isDone, 10 * API_PATIENCE_MS);
    await done;
    return clock.monotonic() - beginMs;
  }

  /** The lines of the log about waits. */
  waits(): readonly string[] {
    return this.logger.records.map(({ message }) => message);
  }
}

const PASSING: readonly (readonly [string, Error])[] = [
  ['504', failure('Timeout', 'request did not complete within the allotted timeout')],
  ['500', failureWithoutReason('etcdserver: leader changed')],
  ['503 without Retry-After', failure('ServiceUnavailable', 'apiserver not ready')],
  ['a refused connection', new TransportError('refused', { code: 'ECONNREFUSED' })],
  ['a reset', new TransportError('reset', { code: 'ECONNRESET' })],
  ['no answer', new TransportError('no answer within 65000 ms', { code: 'ETIMEDOUT' })],
];

it.each(PASSING)('continues after %s, and says once what it waits for', async (_of, error) => {
  const scene = await Scene.start();
  const create = scene.client.create.bind(scene.client);
  let failures = 3;
  scene.client.create = (...call) => (failures-- > 0 ? Promise.reject(error) : create(...call));
  expect(await scene.install()).toBeGreaterThan(1_500);
  expect(scene.waits()).toEqual(['waits for the API server to store the definition of JobSets']);
});

it('takes a definition that exists for the one whose creation was not confirmed', async () => {
  const scene = await Scene.start();
  const create = scene.client.create.bind(scene.client);
  scene.client.create = async (...call) => {
    await create(...call);
    throw failure('Timeout', 'the answer was lost');
  };
  await scene.install();
  expect(scene.waits()).toHaveLength(1);
});

it('updates a definition although the first patch failed', async () => {
  const scene = await Scene.start();
  await scene.install();
  const patch = scene.client.patch.bind(scene.client);
  let failures = 1;
  scene.client.patch = (...call) =>
    failures-- > 0 ? Promise.reject(failure('Timeout', 'slow')) : patch(...call);
  await scene.install();
  expect(scene.waits()).toHaveLength(1);
});

it('waits through failures to read that it is established', async () => {
  const scene = await Scene.start();
  const list = scene.client.list.bind(scene.client);
  scene.client.list = () => Promise.reject(failure('Timeout', 'slow'));
  scene.server.clock.setTimer(API_PATIENCE_MS / 2, () => {
    scene.client.list = list;
  });
  expect(await scene.install()).toBeGreaterThan(API_PATIENCE_MS / 2);
});

const PERMANENT: readonly ApiStatusError[] = [
  failure('Forbidden', 'may not create customresourcedefinitions'),
  failure('NotFound', 'the server could not find the requested resource'),
  failure('Invalid', 'spec.versions: Required value'),
];

it.each(PERMANENT)('ends at once with the reason: %s', async (error) => {
  const scene = await Scene.start();
  scene.client.create = () => Promise.reject(error);
  await expect(scene.install()).rejects.toBe(error);
  expect(scene.waits()).toEqual([]);
});

it('gives up when its patience is over, and says what the server answered last', async () => {
  const scene = await Scene.start();
  const beginMs = scene.server.clock.monotonic();
  scene.client.create = () => Promise.reject(failure('Timeout', 'etcd has no leader'));
  const installing = scene.install();
  await expect(installing).rejects.toBeInstanceOf(DeadlineError);
  await expect(installing).rejects.toThrow('etcd has no leader');
  expect(scene.server.clock.monotonic() - beginMs).toBe(API_PATIENCE_MS);
});
