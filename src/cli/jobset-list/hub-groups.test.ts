import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client, ListOptions } from '@lockstep/kube/runtime/client/client.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import type { HttpRequest, HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { expect, it } from 'vitest';
import { jobSetWith } from '../../../test/fixtures/hub-jobset.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { ENV_HUB_URL, JOBSET_NAME, JOBSET_UID } from '../../jobset/names.ts';
import { forwarding } from '../jobset-status/forwarded-port.fixture.ts';
import { HubGroups } from './hub-groups.ts';

function groupIn(namespace: string, name: string, state: Partial<JobSet> = {}): Stored<JobSet> {
  const jobSet = jobSetWith(2, 3, 7);
  return {
    ...jobSet,
    ...state,
    metadata: { ...jobSet.metadata, namespace, name, uid: `uid-${name}` },
  };
}

/** A running Pod of a group, whose agent has a hub. */
function podOf({ metadata }: Stored<JobSet>): Stored<Pod> {
  const { namespace = '', name, uid } = metadata;
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    name: `${name}-w-0`,
    uid: 'job',
    controller: true,
  };
  const state = { running: { startedAt: '2026-01-01T00:00:00Z' } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name: `${name}-w-0-0`,
      uid: `pod-${name}`,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { [JOBSET_NAME]: name, [JOBSET_UID]: uid },
      ownerReferences: [job],
    },
    spec: { containers: [{ name: 'w', env: [{ name: ENV_HUB_URL, value: 'https://hub' }] }] },
    status: {
      phase: 'Running',
      containerStatuses: [{ name: 'w', ready: true, restartCount: 0, state } as never],
    },
  };
}

function answer(reports: unknown): HttpResponse {
  return forwarding(`HTTP/1.1 200 OK\r\n\r\n${JSON.stringify(reports)}`);
}

const REFUSED: HttpResponse = { status: 403, headers: {}, body: Buffer.from('{}') };

/** A cluster with a Pod for each group, in which `forward` answers for a namespace. */
class Scene {
  readonly clock = new VirtualClock();
  readonly forwarded: string[] = [];
  readonly listed: ListOptions[] = [];
  readonly groups: HubGroups;

  constructor(jobSets: readonly Stored<JobSet>[], forward: (namespace: string) => HttpResponse) {
    const list = (_what: unknown, options: ListOptions): Promise<object> => {
      this.listed.push(options);
      const known = jobSets.filter(({ metadata }) => metadata.namespace === options.namespace);
      return Promise.resolve({ items: known.map(podOf), metadata: {} });
    };
    const createSubresource = (): Promise<never> => Promise.reject(new Error('no token'));
    const transport = {
      send: ({ path }: Pick<HttpRequest, 'path'>): Promise<HttpResponse> => {
        this.forwarded.push(path);
        return Promise.resolve(forward(path.split('/')[4] ?? ''));
      },
      close: () => undefined,
    };
    const client = { list, createSubresource } as unknown as Client;
    this.groups = new HubGroups({ client, transport, credentials: undefined }, this.clock);
  }

  async ask(jobSets: readonly Stored<JobSet>[]): Promise<readonly string[]> {
    const heard = await this.groups.ask(jobSets, new AbortController().signal);
    return [...heard.keys()].sort();
  }
}

const [A, B, C] = [groupIn('one', 'a'), groupIn('one', 'b'), groupIn('two', 'c')];

function tells(...groups: readonly Stored<JobSet>[]): unknown {
  return groups.map(({ metadata }) => ({ jobSet: metadata.uid, epoch: 3, announced: 1 }));
}

it('asks once in each namespace, through the same Pod again, and believes it of that one only', async () => {
  const scene = new Scene([A, B, C], (namespace) =>
    answer(namespace === 'one' ? tells(A, B, C) : tells(A)),
  );
  expect(await scene.ask([A, B, C])).toEqual(['uid-a', 'uid-b']);
  expect(await scene.ask([A, B, C])).toEqual(['uid-a', 'uid-b']);
  expect(scene.listed).toHaveLength(2);
  expect(scene.listed[0]).toMatchObject({
    namespace: 'one',
    labelSelector: 'jobset.sigs.k8s.io/jobset-uid in (uid-a,uid-b)',
  });
  expect(scene.forwarded).toHaveLength(4);
});

it('asks for none that neither runs nor gathers', async () => {
  const over = groupIn('one', 'a', { status: { terminalState: 'Completed' } });
  const plain = groupIn('one', 'b', { spec: { replicatedJobs: [] } });
  const scene = new Scene([over, plain], () => REFUSED);
  expect(await scene.ask([over, plain])).toEqual([]);
  expect(scene.listed).toEqual([]);
});

it('knows nothing where it may not ask, and lets that rest for a while', async () => {
  const scene = new Scene([A, C], (namespace) =>
    namespace === 'one' ? REFUSED : answer(tells(C)),
  );
  expect(await scene.ask([A, C])).toEqual(['uid-c']);
  expect(await scene.ask([A, C])).toEqual(['uid-c']);
  const inOne = (): number => scene.forwarded.filter((path) => path.includes('/one/')).length;
  expect(inOne()).toBe(1);
  await scene.clock.advance(30_000);
  await scene.ask([A, C]);
  expect(inOne()).toBe(2);
});

it('does not take long for many namespaces', async () => {
  const many = Array.from({ length: 100 }, (_, i) => groupIn(`n${i}`, `g${i}`));
  const scene = new Scene(many, () => answer([]));
  await scene.ask(many);
  expect(scene.forwarded).toHaveLength(64);
});
