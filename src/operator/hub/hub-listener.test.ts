import { TestServer } from '@lockstep/embedded-kubernetes/in-memory';
import { SECRETS } from '@lockstep/kube/objects/core.ts';
import type { KeyPair } from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import { certificateFacts } from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import { DeadlineError } from '@lockstep/kube/runtime/deadline.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import type { ConnectionDrop } from '@lockstep/kube/runtime/ports/stream.ts';
import { failure } from '@lockstep/kube/status.ts';
import { expect, it } from 'vitest';
import type { AgentChannel } from '../../jobset/injection/agent-hub.ts';
import { type HubDoor, startHubListener } from './hub-listener.ts';

class Scene {
  readonly server: TestServer;
  readonly client: Client;
  readonly logger = new MemoryLogger();
  door: HubDoor | undefined;
  drop: (why: ConnectionDrop, address: string) => void = () => undefined;
  pair: KeyPair | undefined;
  isClosed = false;

  private constructor(server: TestServer) {
    const { clock, transport } = server;
    this.server = server;
    this.client = createClient({
      transport,
      clock,
      random: new SeededRandom(3),
      userAgent: 'test',
    });
  }

  static async start(): Promise<Scene> {
    const scene = new Scene(await TestServer.start());
    await scene.server.post('/api/v1/namespaces', { metadata: { name: 'system' } });
    return scene;
  }

  async listen(channel: AgentChannel = 'Auto') {
    const listener = await startHubListener({
      client: this.client,
      clock: this.server.clock,
      random: new SeededRandom(5),
      logger: this.logger,
      operatorNamespace: 'system',
      secretName: 'hub',
      url: 'https://hub.system.svc:9445',
      host: '::',
      channel,
      listen: (door, pair, dropped) => {
        this.door = door;
        this.drop = dropped;
        this.pair = pair;
        const close = (): Promise<void> => {
          this.isClosed = true;
          return Promise.resolve();
        };
        return Promise.resolve({
          url: 'https://[::]:9445',
          useCertificate: (next: KeyPair) => {
            this.pair = next;
          },
          close,
        });
      },
      signal: new AbortController().signal,
    });
    await listener.open();
    return listener;
  }

  async reached<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    done.catch(() => undefined);
    await this.server.clock.runUntil(() => isDone, 60_000);
    return done;
  }
}

const PAGE = { kind: 'Page', json: Buffer.from('[]'), over: () => undefined } as const;
const REQUEST = { token: 'token', address: 'memory' };

it('tells agents an address and authorities that fit its certificate, and waits for who decides', async () => {
  const scene = await Scene.start();
  const listener = await scene.reached(scene.listen());
  const { url, authorities, channel } = listener.access();
  expect([url, channel]).toEqual(['https://hub.system.svc:9445', 'Auto']);
  expect(certificateFacts(authorities)?.isAuthority).toBe(true);
  expect(certificateFacts(scene.pair?.certificate ?? '')?.dnsNames).toEqual(['hub.system.svc']);
  expect(await scene.door?.accept(REQUEST)).toMatchObject({ kind: 'Refuse', status: 503 });
  expect(await scene.door?.listMembers(REQUEST)).toMatchObject({ status: 503 });
  expect(await scene.door?.listGroups(REQUEST)).toMatchObject({ status: 503 });
  listener.serve({
    accept: () => Promise.resolve({ kind: 'Refuse', status: 401, reason: 'mine' }),
    listMembers: () => Promise.resolve(PAGE),
    listGroups: () => Promise.resolve(PAGE),
  });
  expect(await scene.door?.accept(REQUEST)).toMatchObject({ reason: 'mine' });
  await scene.reached(listener.stop());
  expect(scene.isClosed).toBe(true);
  expect(await scene.door?.accept(REQUEST)).toMatchObject({ status: 503 });
});

it('shows a new certificate at once when its Secret has another, without listening again', async () => {
  const scene = await Scene.start();
  const listener = await scene.reached(scene.listen());
  const { authorities } = listener.access();
  const { door, pair: first } = scene;
  const at = { namespace: 'system', name: 'hub' };
  await scene.reached(scene.client.delete(SECRETS, at));
  await scene.server.clock.runUntil(() => scene.pair !== first, 60_000);
  expect(certificateFacts(scene.pair?.certificate ?? '')?.dnsNames).toEqual(['hub.system.svc']);
  // From now on agents of new Pods get these authorities.
  expect(listener.access().authorities).not.toBe(authorities);
  expect(scene.door).toBe(door);
  await scene.reached(listener.stop());
});

it('counts who never asks for anything, and tells of them in sums', async () => {
  const scene = await Scene.start();
  const listener = await scene.reached(scene.listen());
  for (let i = 0; i < 10_000; i++) scene.drop('Crowded', '10.0.0.9');
  scene.drop('NoHandshake', '10.0.0.9');
  await scene.server.clock.advance(6000);
  const said = scene.logger.records.filter(({ level }) => level === 'warn');
  expect(said.map(({ fields }) => fields)).toMatchObject([
    { Crowded: 10_000, NoHandshake: 1, address: '10.0.0.9' },
  ]);
  await scene.reached(listener.stop());
});

it('tells nothing after its stop, of whoever came before', async () => {
  const scene = await Scene.start();
  const listener = await scene.reached(scene.listen());
  scene.drop('Crowded', '10.0.0.9');
  await scene.reached(listener.stop());
  await scene.server.clock.advance(60_000);
  expect(scene.logger.records.filter(({ level }) => level === 'warn')).toEqual([]);
});

it('says within seconds that it may not keep its certificates', async () => {
  const scene = await Scene.start();
  scene.client.create = () => Promise.reject(failure('Forbidden', 'secrets is forbidden'));
  for (const channel of ['Auto', 'Hub'] as const) {
    const beginMs = scene.server.clock.monotonic();
    const listening = scene.reached(scene.listen(channel));
    await expect(listening).rejects.toBeInstanceOf(DeadlineError);
    await expect(listening).rejects.toThrow('secrets is forbidden');
    expect(scene.server.clock.monotonic() - beginMs).toBeLessThan(20_000);
  }
});

it('waits for an API server that times out, if agents have no other channel', async () => {
  const scene = await Scene.start();
  const { client } = scene;
  const create = client.create.bind(client);
  client.create = () => Promise.reject(failure('Timeout', 'etcd has no leader'));
  scene.server.clock.setTimer(50_000, () => {
    client.create = create;
  });
  await expect(scene.reached(scene.listen('Auto'))).rejects.toBeInstanceOf(DeadlineError);
  const listener = await scene.reached(scene.listen('Hub'));
  const waits = scene.logger.records.filter(({ message }) => message.startsWith('waits for'));
  expect(waits.map(({ message }) => message)).toEqual([
    'waits for the API server to keep the certificates of the hub',
  ]);
  await scene.reached(listener.stop());
});
