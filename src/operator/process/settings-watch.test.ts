import type { KubeList, KubeObject, Stored } from '@lockstep/kube/meta.ts';
import { CONFIG_MAPS } from '@lockstep/kube/objects/core.ts';
import type { Event } from '@lockstep/kube/objects/event.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import { createEventRecorder } from '@lockstep/kube/runtime/controller/event-recorder.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { createMetrics } from '@lockstep/kube/runtime/metrics.ts';
import { failure } from '@lockstep/kube/status.ts';
import { expect, test } from 'vitest';
import { CONFIGURATION_NAME, SETTINGS_RECORD_NAME } from '../configuration/object-names.ts';
import { readSettingsRecord } from './settings-record.ts';
import {
  type FileSettings,
  LEAVE_MS,
  type RightSettings,
  watchSettings,
} from './settings-watch.ts';

const NAMESPACE = 'lockstep-system';
const OLD: RightSettings = { text: 'old', digest: 'old' };
const NEW: RightSettings = { text: 'new', digest: 'new' };
const WRONG: FileSettings = { problem: 'unknown key agent.mood' };
const MINUTES = 60_000;

class Cluster extends MemoryClient {
  override list<T extends KubeObject>(of: Resource<T>): Promise<KubeList<Stored<T>>> {
    void this.before('LIST', of.plural);
    const items = [...this.objects.values()].filter(({ kind }) => kind === of.kind);
    const list = { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '1' }, items };
    return Promise.resolve(list as unknown as KubeList<Stored<T>>);
  }
}

/** Replicas of an operator, each of which starts again when it has ended, as under a kubelet. */
class Replicas {
  readonly client = new Cluster();
  readonly clock = new VirtualClock();
  readonly logger = new MemoryLogger();
  readonly metrics = createMetrics();
  file: FileSettings = OLD;
  leader = 'a';
  /** What happens, in order. */
  readonly course: string[] = [];
  /** Digests of the files with which no operator becomes ready. */
  readonly unfit = new Set<string>();
  readonly #ready = new Set<string>();

  async start(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      const metadata = { namespace: NAMESPACE, name };
      const spec = { containers: [] };
      await this.client.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
      await this.#run(name);
    }
    await this.clock.advance(10_000);
  }

  async #run(name: string): Promise<void> {
    const running = this.file;
    if ('problem' in running) throw new Error('a kubelet is told to start it later');
    const ending = new AbortController();
    let leaves = false;
    const isReady = (): boolean => !this.unfit.has(running.digest) && !leaves;
    await this.#show(name, isReady());
    const { client, clock, logger, metrics } = this;
    const random = new SeededRandom(1);
    void watchSettings({
      client,
      clock,
      logger,
      metrics,
      events: createEventRecorder({ client, clock, random, logger, controller: 'test' }),
      pod: { namespace: NAMESPACE, name },
      running,
      look: () => this.file,
      isReady,
      isLeader: () => this.leader === name,
      leave: () => {
        leaves = true;
        this.course.push(`${name} leaves`);
        void this.#show(name, false);
      },
      end: () => {
        this.course.push(`${name} ends`);
        ending.abort(new Error('ended'));
        void this.#run(name);
      },
      signal: ending.signal,
    });
  }

  async #show(name: string, isReady: boolean): Promise<void> {
    if (isReady) this.#ready.add(name);
    else this.#ready.delete(name);
    if (!isReady) this.course.push(`${this.#ready.size} ready`);
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
    const patch = { status: { conditions } };
    await this.client.patch(PODS, { namespace: NAMESPACE, name }, { type: 'merge', patch });
  }

  events(): readonly Event[] {
    const all = [...this.client.objects.values()].filter(({ kind }) => kind === 'Event');
    return all as unknown as Event[];
  }

  record(): ReturnType<typeof readSettingsRecord> {
    return readSettingsRecord(this.client, NAMESPACE, new AbortController().signal);
  }
}

test('with a changed file the replicas restart in turn, the leader last', async () => {
  const replicas = new Replicas();
  await replicas.start('a', 'b', 'c');
  expect(await replicas.record()).toMatchObject({ lastGood: 'old', runs: { a: 'old', b: 'old' } });
  replicas.file = NEW;
  await replicas.clock.advance(2 * MINUTES);
  expect(replicas.course).toEqual(
    ['b', 'c', 'a'].flatMap((name) => [`${name} leaves`, '2 ready', `${name} ends`]),
  );
  expect(await replicas.record()).toEqual({
    lastGood: 'new',
    turn: undefined,
    runs: { a: 'new', b: 'new', c: 'new' },
  });
});

test('one replica alone restarts too', async () => {
  const replicas = new Replicas();
  await replicas.start('a');
  replicas.file = NEW;
  await replicas.clock.advance(LEAVE_MS);
  expect(replicas.course).toEqual(['a leaves', '0 ready', 'a ends']);
});

test('settings with which the first cannot become ready stop there, until they change', async () => {
  const replicas = new Replicas();
  await replicas.start('a', 'b');
  replicas.unfit.add('new');
  replicas.file = NEW;
  await replicas.clock.advance(60 * MINUTES);
  expect(replicas.course).toEqual(['b leaves', '1 ready', 'b ends', '1 ready']);
  expect((await replicas.record()).lastGood).toBe('old');
  replicas.course.splice(0);
  replicas.file = OLD;
  await replicas.clock.advance(60 * MINUTES);
  expect(replicas.course).toEqual(['b leaves', '1 ready', 'b ends']);
});

test('a wrong file changes nothing, and is reported', async () => {
  const replicas = new Replicas();
  const metadata = { namespace: NAMESPACE, name: CONFIGURATION_NAME };
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
  const { metadata: edited } = await replicas.client.create(CONFIG_MAPS, map);
  await replicas.start('a', 'b');
  replicas.file = WRONG;
  await replicas.clock.advance(20 * MINUTES);
  expect(replicas.course).toEqual([]);
  expect(replicas.events()).toMatchObject([
    {
      type: 'Warning',
      reason: 'ConfigurationWrong',
      regarding: { kind: 'ConfigMap', name: CONFIGURATION_NAME, uid: edited.uid },
      note: expect.stringContaining('unknown key agent.mood'),
    },
  ]);
  const errors = replicas.logger.records.filter(({ level }) => level === 'error');
  expect(errors, 'one of each replica').toHaveLength(2);
  expect(await page(replicas)).toMatch(/^lockstep_configuration_wrong 1$/m);
  await replicas.clock.advance(20 * MINUTES);
  expect(replicas.events(), 'it is told again').toHaveLength(2);
  replicas.file = OLD;
  await replicas.clock.advance(10_000);
  expect(await page(replicas)).toMatch(/^lockstep_configuration_wrong 0$/m);
  expect(replicas.course).toEqual([]);
});

test('a record that is gone is written again when a file is wrong, for a Pod that starts then', async () => {
  const replicas = new Replicas();
  await replicas.start('a', 'b');
  await replicas.client.delete(CONFIG_MAPS, { namespace: NAMESPACE, name: SETTINGS_RECORD_NAME });
  replicas.file = WRONG;
  await replicas.clock.advance(10_000);
  expect(await replicas.record()).toMatchObject({ lastGood: 'old' });
});

test('without rights nothing restarts, and it says why once', async () => {
  const replicas = new Replicas();
  replicas.client.before = (verb, path) => {
    if (verb === 'LIST') throw failure('Forbidden', `you may not list ${path}`);
  };
  await replicas.start('a', 'b');
  replicas.file = NEW;
  await replicas.clock.advance(30 * MINUTES);
  expect(replicas.course).toEqual([]);
  const warnings = replicas.logger.records.filter(({ level }) => level === 'warn');
  expect(warnings).toHaveLength(2);
  expect(warnings[0]?.fields).toMatchObject({ err: expect.stringContaining('may not list pods') });
});

test('what somebody wrote into the record does no harm', async () => {
  const replicas = new Replicas();
  const metadata = { namespace: NAMESPACE, name: SETTINGS_RECORD_NAME };
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
  for (const text of ['{', '[]', '{"turn":7,"runs":{"a":{},"__proto__":"x"}}']) {
    replicas.client.objects.clear();
    await replicas.client.create(CONFIG_MAPS, { ...map, data: { 'replicas.json': text } });
    expect(await replicas.record()).toMatchObject({ turn: undefined });
    expect((await replicas.record()).runs['a']).toBeUndefined();
  }
  await replicas.start('a');
  expect(await replicas.record()).toEqual({ lastGood: 'old', turn: undefined, runs: { a: 'old' } });
});

async function page({ metrics }: Replicas): Promise<string> {
  const { signal } = new AbortController();
  const { body } = await metrics.handler({ method: 'GET', path: '/metrics', headers: {}, signal });
  return body instanceof Uint8Array ? Buffer.from(body).toString() : '';
}
