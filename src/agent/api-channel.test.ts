import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import { handlerTransport } from '@lockstep/kube/runtime/memory/memory-transport.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { failure } from '@lockstep/kube/status.ts';
import { afterEach, describe, expect, it } from 'vitest';
import {
  AGENT_STARTS,
  EPOCH,
  IN_PLACE_RESTART_ATTEMPT,
  JOBSET_UID,
  NOTICE,
  REPLICATED_JOB_NAME,
} from '../jobset/names.ts';
import { parseNotice } from '../jobset/worker-end/notice.ts';
import { type WorkerEnd, withoutSigns } from '../jobset/worker-end/worker-end.ts';
import { createApiChannel } from './api-channel.ts';
import type { Channel } from './channel.ts';
import { bookmark, FakeApi, json, line } from './fake-api.fixture.ts';
import type { Dialect } from './pod-annotations.ts';

class Scene {
  readonly api = new FakeApi();
  readonly clock = new VirtualClock();
  /** What the listener heard: `D/S`, `announced E`, `ending`. */
  readonly heard: string[] = [];
  channel: Channel | undefined;

  open({
    announced = 0,
    dialect = 'Canonical',
    isTold = true,
  }: {
    announced?: number;
    dialect?: Dialect;
    isTold?: boolean;
  } = {}): Channel {
    const { clock } = this;
    const random = new SeededRandom(7);
    const client = createClient({
      transport: handlerTransport(this.api.handler),
      clock,
      random,
      userAgent: 'test',
    });
    const channel = createApiChannel({
      client,
      clock,
      random,
      logger: SILENT,
      namespace: 'ns',
      dialect,
      jobSetName: 'train',
      jobSetUid: isTold ? 'jobset-uid' : undefined,
      replicatedJobName: isTold ? 'w' : undefined,
      podName: 'pod',
      podUid: 'pod-uid',
      announced,
    });
    channel.open({
      snapshot: ({ deprecated, released, isFresh }) =>
        this.heard.push(`${deprecated}/${released}${isFresh ? ' fresh' : ''}`),
      announced: (epoch) => this.heard.push(`announced ${epoch}`),
      podEnding: () => this.heard.push('ending'),
      podLives: (askedMs) => this.heard.push(`lives ${askedMs}`),
      answered: () => undefined,
      progress: () => undefined,
    });
    this.channel = channel;
    return channel;
  }

  until(condition: () => boolean, limitMs = 60_000): Promise<void> {
    return this.clock.runUntil(condition, limitMs);
  }

  get patches(): number {
    return this.api.requests.filter((request) => request.startsWith('PATCH')).length;
  }
}

let scene = new Scene();
afterEach(async () => {
  scene.channel?.close();
  await scene.clock.settle();
  const left = { watches: scene.api.openWatches, timers: scene.clock.pendingTimers };
  scene = new Scene();
  expect(left).toEqual({ watches: 0, timers: 0 });
});

const FAILED: WorkerEnd = {
  epoch: 1,
  how: 'Exited',
  exit: { exitCode: 3 },
  restartsGroup: true,
  atMs: 0,
};

describe('following a JobSet', () => {
  it('speaks only after the end of the initial events, and then of every change', async () => {
    scene.open();
    await scene.until(() => scene.heard.length === 1);
    scene.api.setStatus(0, 1);
    scene.api.setStatus(1, 1);
    await scene.until(() => scene.heard.length === 3);
    expect(scene.heard).toEqual(['0/0 fresh', '0/1', '1/1']);
    const [query] = scene.api.requests.map((request) => new URLSearchParams(request.split('?')[1]));
    expect(Object.fromEntries(query ?? [])).toMatchObject({
      watch: 'true',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
      fieldSelector: 'metadata.name=train',
    });
    expect(query?.has('resourceVersion')).toBe(false);
  });

  it.each(['refuses', 'ignores'] as const)(
    'lists and watches where the server %s to stream the initial state',
    async (streaming) => {
      scene.api.streaming = streaming;
      scene.open();
      await scene.until(() => scene.heard.length === 1);
      await scene.until(() => scene.api.requests.some((r) => r.includes('resourceVersion=10')));
      await scene.clock.settle();
      scene.api.setStatus(0, 1);
      await scene.until(() => scene.heard.length === 2);
      expect(scene.heard).toEqual(['0/0 fresh', '0/1']);
      const list = scene.api.requests.find((request) => !request.includes('watch=true'));
      expect(list).not.toContain('resourceVersion');
    },
  );

  it('resumes from the last version when a watch ends', async () => {
    scene.open();
    await scene.until(() => scene.heard.length === 1);
    scene.api.setStatus(0, 1);
    await scene.until(() => scene.heard.length === 2);
    scene.api.emit(bookmark(15, false));
    await scene.clock.settle();
    scene.api.closeWatches();
    await scene.until(() => scene.api.requests.length === 2);
    expect(scene.api.requests[1]).toContain('resourceVersion=15');
    expect(scene.heard).toEqual(['0/0 fresh', '0/1']);
  });

  it.each([
    ['by status', () => Promise.resolve(json(410, failure('Expired', 'too old').status))],
    [
      'within the stream',
      () => {
        const event = line({ type: 'ERROR', object: failure('Expired', 'too old').status });
        return Promise.resolve({ status: 200, headers: {}, body: Buffer.from(event) });
      },
    ],
  ])('starts again when its version is too old (410 %s)', async (_, answer) => {
    scene.open();
    await scene.until(() => scene.heard.length === 1);
    scene.api.fault = ({ path }) => (path.includes('resourceVersion=') ? answer() : undefined);
    scene.api.closeWatches();
    scene.api.setStatus(0, 1);
    await scene.until(() => scene.heard.includes('0/1 fresh'));
    expect(scene.api.requests.filter((r) => r.includes('sendInitialEvents'))).toHaveLength(2);
  });

  it.each<[string, () => HttpResponse]>([
    [
      'that refuses its version as one of the future',
      () => {
        const causes = [
          { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
        ];
        return json(504, failure('Timeout', 'Too large resource version: 99', { causes }).status);
      },
    ],
    [
      'that shows older versions than it did',
      () => ({ status: 200, headers: {}, body: Buffer.from(line(bookmark(3, false))) }),
    ],
  ])('starts again after a restore of an API %s', async (_, answer) => {
    scene.open();
    await scene.until(() => scene.heard.length === 1);
    scene.api.setStatus(0, 1);
    await scene.until(() => scene.heard.at(-1) === '0/1');
    scene.api.fault = ({ path }) =>
      path.includes('resourceVersion=') ? Promise.resolve(answer()) : undefined;
    scene.api.version = 4;
    scene.api.setStatus(1, 1);
    scene.api.closeWatches();
    await scene.until(() => scene.heard.at(-1) === '1/1 fresh');
    scene.api.setStatus(1, 2);
    await scene.until(() => scene.heard.at(-1) === '1/2');
  });

  it('outlives an API that is away, refuses or talks nonsense', async () => {
    scene.api.fault = (_, count) => {
      if (count <= 3) return Promise.reject(new Error('connection refused'));
      if (count <= 5) return Promise.resolve(json(500, { kind: 'Status', code: 500 }));
      if (count === 6) return Promise.resolve(json(403, failure('Forbidden', 'no').status));
      if (count === 7) {
        return Promise.resolve({ status: 200, headers: {}, body: Buffer.from('{"type":') });
      }
      return undefined;
    };
    scene.open();
    await scene.until(() => scene.heard.length === 1, 300_000);
    expect(scene.heard).toEqual(['0/0 fresh']);
  });

  it('ends a watch that the server has forgotten', async () => {
    scene.open();
    await scene.until(() => scene.heard.length === 1);
    await scene.clock.advance(400_000);
    expect(scene.api.requests.length).toBeGreaterThan(1);
    expect(scene.api.openWatches).toBe(1);
  });

  it('does not hammer a server that closes every watch at once', async () => {
    scene.api.fault = ({ path }) =>
      path.includes('resourceVersion=')
        ? Promise.resolve({ status: 200, headers: {}, body: Buffer.alloc(0) })
        : undefined;
    scene.open();
    await scene.until(() => scene.heard.length === 1);
    scene.api.closeWatches();
    await scene.clock.advance(60_000);
    expect(scene.api.requests.length).toBeLessThan(15);
  });

  it('says nothing about a JobSet that is not there, nor about its deletion', async () => {
    const { jobSet } = scene.api;
    scene.open();
    await scene.until(() => scene.heard.length === 1);
    scene.api.emit({ type: 'DELETED', object: jobSet });
    await scene.clock.settle();
    expect(scene.heard).toEqual(['0/0 fresh']);
  });
});

describe('an agent whose settings have neither UID nor ReplicatedJob', () => {
  it('learns both from the labels of its Pod', async () => {
    scene.api.setPod({ labels: { [JOBSET_UID]: 'jobset-uid', [REPLICATED_JOB_NAME]: 'w' } });
    scene.api.setStatus(2, 3);
    scene.open({ isTold: false });
    await scene.until(() => scene.heard.length === 1);
    expect(scene.heard).toEqual(['2/3 fresh']);
  });

  it('ignores another JobSet of the same name', async () => {
    scene.api.setPod({ labels: { [JOBSET_UID]: 'an-earlier-one', [REPLICATED_JOB_NAME]: 'w' } });
    scene.open({ isTold: false });
    await scene.until(() => scene.api.openWatches === 1);
    scene.api.setStatus(2, 3);
    await scene.clock.settle();
    expect(scene.heard).toEqual([]);
  });

  it('asks until it is answered', async () => {
    scene.api.fault = ({ method }, count) =>
      method === 'PATCH' && count < 4 ? Promise.reject(new Error('no route')) : undefined;
    scene.open({ isTold: false });
    await scene.until(() => scene.heard.length === 1, 300_000);
  });

  it('hears that its Pod is gone', async () => {
    scene.api.pod = undefined;
    scene.open({ isTold: false });
    await scene.until(() => scene.heard.length === 1);
    expect(scene.heard).toEqual(['ending']);
  });
});

describe("an agent in upstream's dialect", () => {
  it('announces an attempt, which is one less, and writes nothing else', async () => {
    const channel = scene.open({ dialect: 'Upstream' });
    channel.announce({ epoch: 1, starts: 1 });
    await scene.until(() => scene.heard.includes('announced 1'));
    expect(scene.api.annotations).toEqual({ other: 'x', [IN_PLACE_RESTART_ATTEMPT]: '0' });
    channel.announce({ epoch: 2, starts: 1, end: withoutSigns(FAILED) });
    await scene.until(() => scene.heard.includes('announced 2'));
    await channel.giveNotice(2);
    expect(scene.api.annotations).toEqual({ other: 'x', [IN_PLACE_RESTART_ATTEMPT]: '1' });
    expect(scene.api.pod?.metadata).not.toHaveProperty('managedFields');
    expect(scene.patches).toBe(2);
  });

  it("reads the attempts of upstream's controller", async () => {
    scene.api.setJobSetStatus({
      currentInPlaceRestartAttempt: 4,
      previousInPlaceRestartAttempt: 3,
    });
    scene.open({ dialect: 'Upstream' });
    await scene.until(() => scene.heard.length === 1);
    expect(scene.heard).toEqual(['4/5 fresh']);
  });
});

describe('announcing an epoch', () => {
  it('asks the API server to keep no record of who set the fields of its Pod', async () => {
    scene.open().announce({ epoch: 1, starts: 1 });
    await scene.until(() => scene.heard.includes('announced 1'));
    // A real server would drop the field then; the fake one stores what it is sent.
    expect(scene.api.pod?.metadata).toMatchObject({ managedFields: [{}] });
  });

  it('takes one patch, and one for each later epoch', async () => {
    const channel = scene.open();
    channel.announce({ epoch: 1, starts: 1 });
    await scene.until(() => scene.heard.includes('announced 1'));
    channel.announce({ epoch: 2, starts: 1, end: withoutSigns(FAILED) });
    await scene.until(() => scene.heard.includes('announced 2'));
    expect(scene.patches).toBe(2);
    expect(scene.api.annotations).toEqual({
      other: 'x',
      [EPOCH]: '2',
      [AGENT_STARTS]: '2:1',
      [NOTICE]: '{"epoch":1,"exitCode":3}',
    });
  });

  it('counts the agents that announced it, one after the other', async () => {
    scene.api.setPod({ annotations: { [EPOCH]: '4', [AGENT_STARTS]: '4:1' } });
    scene.open({ announced: 4 }).announce({ epoch: 4, starts: 2 });
    await scene.until(() => scene.heard.includes('announced 4'));
    expect(scene.api.annotations).toEqual({ [EPOCH]: '4', [AGENT_STARTS]: '4:2' });
  });

  it('takes one patch after a restart of the container, thanks to the marker', async () => {
    scene.api.setPod({ annotations: { [EPOCH]: '4' } });
    scene.open({ announced: 4 }).announce({ epoch: 5, starts: 1 });
    await scene.until(() => scene.heard.includes('announced 5'));
    expect(scene.patches).toBe(1);
  });

  it.each<[string, Record<string, string> | undefined, number]>([
    ['another value than the marker says', { [EPOCH]: '3' }, 4],
    ['a value that a new Pod has not', { [EPOCH]: '3' }, 0],
    ['no value where the marker says one', { other: 'x' }, 4],
    ['no annotations at all', undefined, 0],
  ])('reads and repeats when the Pod has %s', async (_, annotations, announced) => {
    scene.api.setPod({});
    const { pod } = scene.api;
    if (pod !== undefined) {
      const { annotations: _dropped, ...metadata } = pod.metadata;
      scene.api.pod = {
        ...pod,
        metadata: annotations === undefined ? metadata : { ...metadata, annotations },
      };
    }
    scene.open({ announced }).announce({ epoch: 5, starts: 1 });
    await scene.until(() => scene.heard.includes('announced 5'));
    expect(scene.api.annotations[EPOCH]).toBe('5');
  });

  it('finds out what became of a patch whose answer was lost', async () => {
    scene.api.applied = (count) => {
      if (count === 1) throw new Error('connection reset');
    };
    scene.open().announce({ epoch: 1, starts: 1 });
    await scene.until(() => scene.heard.includes('announced 1'));
    // The patch and one read: the value stands, so nothing is written again.
    expect(scene.patches).toBe(2);
  });

  it('writes nothing again for evidence that is older by the time of the answer', async () => {
    scene.api.applied = (count) => {
      if (count === 1) throw new Error('connection reset');
    };
    scene.open().announce({ epoch: 2, starts: 1, end: FAILED });
    await scene.until(() => scene.heard.includes('announced 2'));
    expect(scene.patches).toBe(2);
    expect(parseNotice(scene.api.annotations[NOTICE] ?? '')).toMatchObject({
      end: { how: 'Exited' },
    });
  });

  it('writes evidence only where the worker is why it announces', async () => {
    const end = { epoch: 1, how: 'Stopped', exit: { signal: 'SIGTERM' }, atMs: 0 } as const;
    scene.open().announce({ epoch: 2, starts: 1, end });
    await scene.until(() => scene.heard.includes('announced 2'));
    expect(scene.api.annotations[NOTICE]).toBeUndefined();
  });

  it.each([
    ['Forbidden', 403],
    ['Invalid', 422],
  ] as const)('leaves out evidence that a policy refuses as %s', async (reason, code) => {
    const refused: unknown[] = [];
    scene.api.fault = ({ method, body }) => {
      if (method !== 'PATCH' || !Buffer.from(body ?? []).includes('ended')) return undefined;
      refused.push(body);
      const why = failure(reason, "ValidatingAdmissionPolicy 'lockstep-agents' denied request");
      return Promise.resolve(json(code, why.status));
    };
    scene.open().announce({ epoch: 2, starts: 1, end: FAILED });
    await scene.until(() => scene.heard.includes('announced 2'), 1000);
    expect(scene.api.annotations[NOTICE]).toBe('{"epoch":1,"exitCode":3}');
    expect(refused.length).toBeLessThanOrEqual(2);
  });

  it('never lets a late patch win over a newer one', async () => {
    let late: (() => Promise<HttpResponse>) | undefined;
    scene.api.fault = (request) => {
      if (request.method !== 'PATCH' || late !== undefined) return undefined;
      late = () => scene.api.handler(request);
      return Promise.reject(new Error('the connection broke, the request lives on'));
    };
    const channel = scene.open();
    channel.announce({ epoch: 1, starts: 1 });
    await scene.until(() => late !== undefined);
    channel.announce({ epoch: 2, starts: 1 });
    await scene.until(() => scene.heard.includes('announced 2'));
    expect((await late?.())?.status).toBe(422);
    expect(scene.api.annotations[EPOCH]).toBe('2');
    expect(scene.heard).not.toContain('announced 1');
  });

  it('repeats what a busy server turned away, without reading', async () => {
    let refused = 0;
    scene.api.fault = ({ method }) => {
      if (method !== 'PATCH' || refused >= 30) return undefined;
      refused++;
      return Promise.resolve(json(429, failure('TooManyRequests', 'busy').status));
    };
    scene.open().announce({ epoch: 1, starts: 1 });
    await scene.until(() => scene.heard.includes('announced 1'), 900_000);
    expect(scene.patches).toBe(31);
  });

  it.each<[string, () => HttpResponse]>([
    ['always refuses the patch', () => json(422, failure('Invalid', 'denied by policy').status)],
    ['always stores another value', () => json(200, scene.api.pod ?? {})],
  ])('does not hammer a server that %s', async (_, answer) => {
    scene.api.fault = ({ method, headers }) =>
      method === 'PATCH' && headers['content-type'] === 'application/json-patch+json'
        ? Promise.resolve(answer())
        : undefined;
    scene.open().announce({ epoch: 1, starts: 1 });
    await scene.clock.advance(60_000);
    expect(scene.patches).toBeGreaterThan(4);
    expect(scene.patches).toBeLessThan(40);
  });

  it('continues after the right to patch is granted', async () => {
    scene.api.fault = ({ method }, count) =>
      method === 'PATCH' && count < 6
        ? Promise.resolve(json(403, failure('Forbidden', 'pods is forbidden').status))
        : undefined;
    scene.open().announce({ epoch: 1, starts: 1 });
    await scene.until(() => scene.heard.includes('announced 1'), 300_000);
  });

  it.each<[string, (api: FakeApi) => void]>([
    ['is being deleted', (api) => api.setPod({ deletionTimestamp: '2026-01-01T00:00:01Z' })],
    ['is gone', (api) => (api.pod = undefined)],
    ['was replaced by one of the same name', (api) => api.setPod({ uid: 'another' })],
    ['belongs to no Job any more', (api) => api.setPod({ ownerReferences: [] })],
  ])('tells when the Pod %s', async (_, change) => {
    change(scene.api);
    scene.open().announce({ epoch: 1, starts: 1 });
    await scene.until(() => scene.heard.includes('ending'));
    await scene.clock.advance(60_000);
    expect(scene.patches).toBeLessThanOrEqual(2);
  });

  it('spreads the announcements of a large group, but not the first one', async () => {
    const { jobSet } = scene.api;
    const [job] = jobSet?.spec.replicatedJobs ?? [];
    if (jobSet === undefined || job === undefined) throw new Error('no JobSet');
    scene.api.jobSet = {
      ...jobSet,
      spec: { ...jobSet.spec, replicatedJobs: [{ ...job, replicas: 5000 }] },
    };
    const channel = scene.open();
    await scene.until(() => scene.heard.length === 1);
    channel.announce({ epoch: 1, starts: 1 });
    await scene.clock.settle();
    expect(scene.patches).toBe(0);
    await scene.until(() => scene.heard.includes('announced 1'));
    channel.announce({ epoch: 2, starts: 1 });
    await scene.clock.settle();
    expect(scene.heard.at(-1)).toBe('announced 2');
  });
});

describe('giving notice', () => {
  it('writes the epoch of the worker that is being stopped', async () => {
    await scene.open().giveNotice(3);
    expect(scene.api.annotations[NOTICE]).toBe('3');
  });

  it('keeps the agent no longer than a moment when the API does not answer', async () => {
    scene.api.fault = ({ method }) =>
      method === 'PATCH' ? new Promise(() => undefined) : undefined;
    const start = scene.clock.monotonic();
    let isDone = false;
    void scene
      .open()
      .giveNotice(3)
      .then(() => {
        isDone = true;
      });
    await scene.until(() => isDone);
    expect(scene.clock.monotonic() - start).toBeLessThan(500);
  });
});
