/**
 * Groups whose agents use the hub, with the real operator and the real agents, under a virtual
 * clock. Status is always written first, and crashes, partitions and second leaders only cause
 * delay (`docs/design/hub.md`).
 */

import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import type { Informer } from '@lockstep/kube/runtime/informer/informer.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { EPOCH } from '../../src/jobset/names.ts';
import { overviewRow } from '../../src/jobset/view/overview.ts';
import { stateWords } from '../../src/jobset/view/shown-state.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import {
  HubNetwork,
  supervised,
  supervisedOverHub,
  TrainingGroup,
} from './training-group.fixture.ts';

const SIZE = 3;
const SPEC = {
  replicatedJobs: [replicatedJob('w', SIZE)],
  failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 50 },
} as const;
const SUPERVISOR = {
  'lockstep/restart-mode': 'Supervisor',
  'lockstep/restart-backoff': 'Disabled',
};
const STATUS = 'update jobsets/status';

let hub = new HubNetwork();
let group: TrainingGroup;
let history: StatusHistory;
afterEach(async () => {
  const last = await group.jobSet();
  history.stop();
  await group.stop();
  history.expectLawful(last);
});

/**
 * Every status of the JobSet that was ever stored, and the properties that hold for all of them
 * (`docs/design/properties.md`).
 */
class StatusHistory {
  readonly #epochs: { readonly deprecated: number; readonly released: number }[] = [];
  readonly #informer: Informer<JobSet>;

  constructor({ client, clock }: TrainingGroup['cluster']) {
    const random = new SeededRandom(1);
    this.#informer = createInformer({ client, resource: JOBSETS, clock, random, logger: SILENT });
    const see = ({ status }: JobSet): void => {
      const { deprecatedEpoch: deprecated = 0, syncedEpoch: released = 0 } = status ?? {};
      this.#epochs.push({ deprecated, released });
    };
    this.#informer.subscribe({ added: see, updated: see });
  }

  stop(): void {
    void this.#informer.stop();
  }

  expectLawful({ status = {} }: JobSet): void {
    let before = { deprecated: 0, released: 0 };
    for (const epochs of this.#epochs) {
      // No epoch ever goes back, and no member is released ahead of the current epoch.
      expect(epochs.deprecated).toBeGreaterThanOrEqual(before.deprecated);
      expect(epochs.released).toBeGreaterThanOrEqual(before.released);
      expect(epochs.released).toBeLessThanOrEqual(epochs.deprecated + 1);
      before = epochs;
    }
    // Each epoch ended once, with a witness, and was charged once.
    const { restartHistory = [], inPlaceRestarts = 0 } = status;
    const ended = restartHistory.map(({ epoch }) => epoch);
    expect(new Set(ended).size).toBe(ended.length);
    expect(ended[0] ?? 0).toBe(status.deprecatedEpoch ?? 0);
    expect(restartHistory.filter(({ witness }) => witness === undefined)).toEqual([]);
    expect(status.inPlaceRestartsCountTowardsMax ?? 0).toBe(inPlaceRestarts);
    expect(inPlaceRestarts).toBe(status.deprecatedEpoch ?? 0);
  }
}

async function start(channel: 'Auto' | 'Hub' = 'Hub'): Promise<void> {
  await startEmpty(channel);
  await group.create(SPEC, SUPERVISOR);
  await group.allIn(1, SIZE);
}

async function startEmpty(channel: 'Auto' | 'Hub'): Promise<void> {
  hub = new HubNetwork();
  group = new TrainingGroup(supervisedOverHub(hub, channel), hub);
  group.onStart = expectLockstep;
  await group.start();
  history = new StatusHistory(group.cluster);
}

/** No worker starts while one of another epoch runs. */
function expectLockstep({ epoch }: { readonly epoch: number }): void {
  for (const running of group.running().values()) expect(running).toBe(epoch);
}

async function annotated(): Promise<readonly (string | undefined)[]> {
  const pods = await group.cluster.pods();
  return pods.map(({ metadata }) => metadata.annotations?.[EPOCH]);
}

/** Every restart was charged once, and no worker started twice in one epoch. */
async function expectRestarts(count: number): Promise<void> {
  const { status } = await group.jobSet();
  expect(status).toMatchObject({
    deprecatedEpoch: count,
    syncedEpoch: count + 1,
    inPlaceRestarts: count,
    inPlaceRestartsCountTowardsMax: count,
  });
  const starts = group.starts.map(({ slot, epoch }) => `${slot} ${epoch}`);
  expect(new Set(starts).size).toBe(starts.length);
}

describe('a restart over the hub', () => {
  it('costs two writes of status and no other, and tells the cause', async () => {
    await start();
    const before = group.operatorClient.writes.length;
    group.exit('w/1', 7);
    await group.allIn(2, SIZE);
    await group.cluster.clock.advance(60_000);
    const writes = group.operatorClient.writes.slice(before).map(({ what }) => what);
    expect(writes).toEqual([STATUS, STATUS]);
    expect(await annotated()).toEqual([undefined, undefined, undefined]);
    const { status } = await group.jobSet();
    expect(status?.restartHistory?.[0]?.witness).toMatchObject({
      pod: group.podNameIn('w/1'),
      exitCode: 7,
      reason: 'WorkerExited',
    });
    await expectRestarts(1);
  });

  it('is one restart, however many fail at a time', async () => {
    await start();
    for (const slot of ['w/0', 'w/1', 'w/2']) group.exit(slot, 1);
    await group.allIn(2, SIZE);
    await expectRestarts(1);
  });

  it('continues where an agent crashed at the barrier', async () => {
    await start();
    group.exit('w/0', 1);
    await group.until((status) => status.deprecatedEpoch === 1);
    group.crash('w/2');
    await group.allIn(2, SIZE);
    await expectRestarts(1);
  });

  it('replaces a Pod that is deleted, and the others wait for its successor', async () => {
    await start();
    await group.finish('w/1', 1);
    await group.allIn(2, SIZE);
    expect((await group.jobSet()).status).toMatchObject({ deprecatedEpoch: 1, syncedEpoch: 2 });
  });
});

describe('an operator that dies', () => {
  /** From one failure to the end of its restart, at each of its two writes. */
  it.each([0, 1].flatMap((write) => [[write, 'before'] as const, [write, 'after'] as const]))(
    'at write %i of a restart, just %s it, loses and adds nothing',
    async (write, when) => {
      await start();
      const client = group.operatorClient;
      let isDead = false;
      client.diesAt = client.writes.length + write;
      client.diesBefore = when === 'before';
      client.onDeath = () => {
        isDead = true;
        hub.acceptor = undefined;
        hub.breakAll();
      };
      group.exit('w/1', 1);
      await group.cluster.clock.runUntil(() => isDead, 60_000);
      await group.startOperator();
      await group.allIn(2, SIZE);
      await expectRestarts(1);
    },
  );

  /** From one failure to the end of its restart, at each of its two broadcasts. */
  it.each([0, 1].flatMap((write) => [0, 1, 2].map((heard) => [write, heard] as const)))(
    'at the broadcast of write %i, which %i of three agents hear, loses and adds nothing',
    async (write, heard) => {
      await start();
      const client = group.operatorClient;
      const last = client.writes.length + write;
      let isDead = false;
      client.afterWrite = () => {
        if (client.writes.length !== last + 1) return;
        for (const slot of ['w/0', 'w/1', 'w/2'].slice(heard)) hub.network(slot).isCut = true;
        group.cluster.clock.setTimer(5, () => {
          client.diesAt = client.writes.length;
          client.diesBefore = true;
          hub.acceptor = undefined;
          hub.breakAll();
          isDead = true;
        });
      };
      group.exit('w/1', 1);
      await group.cluster.clock.runUntil(() => isDead, 60_000);
      for (const slot of ['w/0', 'w/1', 'w/2']) hub.network(slot).isCut = false;
      await group.startOperator();
      await group.allIn(2, SIZE);
      await expectRestarts(1);
    },
  );

  it('again and again during twenty restarts loses none and adds none', async () => {
    await start();
    for (let restart = 1; restart <= 20; restart++) {
      group.exit(`w/${restart % SIZE}`, 1);
      // The moment of the death wanders through the restart.
      await group.cluster.clock.advance(restart);
      hub.acceptor = undefined;
      hub.breakAll();
      await group.startOperator();
      await group.allIn(restart + 1, SIZE);
    }
    await expectRestarts(20);
  });
});

describe('two leaders at a time', () => {
  it('one of whom some agents do not leave: the group waits for them, and loses nothing', async () => {
    await start();
    const deposed = hub.acceptor;
    const second = group.secondOperator();
    await second.start();
    // One agent stays with the deposed operator; the others are told to go.
    hub.detours.set('w/0', deposed);
    hub.acceptor = second.acceptStream;
    hub.network('w/1').breakAll();
    hub.network('w/2').breakAll();
    await group.cluster.until(() => Promise.resolve(hub.openStreams === SIZE));
    group.exit('w/2', 1);
    await group.until((status) => status.deprecatedEpoch === 1);
    // Both leaders write; only the deposed one hears the agent that stayed with it.
    await group.cluster.clock.advance(2000);
    expect((await group.jobSet()).status).toMatchObject({ deprecatedEpoch: 1, syncedEpoch: 1 });
    hub.detours.clear();
    hub.network('w/0').breakAll();
    await group.allIn(2, SIZE);
    await expectRestarts(1);
    await second.stop();
  });
});

describe('a partition between an agent and the hub', () => {
  it('stops no worker, and the agent falls back to the API server and returns', async () => {
    await start('Auto');
    hub.network('w/1').isCut = true;
    await group.cluster.clock.advance(60_000);
    expect([...group.running().values()]).toEqual([1, 1, 1]);
    group.exit('w/1', 1);
    await group.allIn(2, SIZE);
    expect((await annotated()).filter((epoch) => epoch !== undefined)).toEqual(['2']);
    hub.network('w/1').isCut = false;
    // A connection attempt is given up and made again.
    await group.cluster.clock.advance(90_000);
    group.exit('w/0', 1);
    await group.allIn(3, SIZE);
    // The annotation is left as it is: the newer epoch came over the hub.
    expect((await annotated()).filter((epoch) => epoch !== undefined)).toEqual(['2']);
    await expectRestarts(2);
  });

  it('without another way: the group waits for it, and continues when it is back', async () => {
    await start('Hub');
    hub.network('w/1').isCut = true;
    group.exit('w/0', 1);
    await group.until((status) => status.deprecatedEpoch === 1);
    await group.cluster.clock.advance(120_000);
    expect(group.running().get('w/1')).toBe(1);
    expect((await group.jobSet()).status?.syncedEpoch).toBe(1);
    hub.network('w/1').isCut = false;
    await group.allIn(2, SIZE);
    await expectRestarts(1);
  });

  it('that was already down: the group starts over the API server, in seconds', async () => {
    await startEmpty('Auto');
    hub.acceptor = undefined;
    await group.create(SPEC, SUPERVISOR);
    const { clock } = group.cluster;
    await group.cluster.until(() => Promise.resolve(hub.pods.size === SIZE));
    const startedMs = clock.monotonic();
    await group.allIn(1, SIZE);
    expect(clock.monotonic() - startedMs).toBeLessThan(3000);
    expect(await annotated()).toEqual(['1', '1', '1']);
  });

  it('that cuts off all agents: they fall back, and restart over the API server', async () => {
    await start('Auto');
    hub.acceptor = undefined;
    hub.breakAll();
    await group.cluster.clock.advance(60_000);
    group.exit('w/0', 1);
    await group.allIn(2, SIZE);
    expect(await annotated()).toEqual(['2', '2', '2']);
    await expectRestarts(1);
  });
});

describe('progress', () => {
  /** Every object that a report could have written to. */
  async function versions(): Promise<readonly unknown[]> {
    const { client } = group.cluster;
    const pods = await group.cluster.pods();
    const { items: events } = await client.list(EVENTS, { namespace: 'default' });
    return [await group.jobSet(), ...pods, ...events].map(({ metadata }) => [
      metadata.name,
      metadata.resourceVersion,
    ]);
  }

  async function steps(): Promise<readonly (number | undefined)[]> {
    const reports = await group.memberReports('w/0');
    return reports
      .toSorted((a, b) => a.pod.localeCompare(b.pod))
      .map(({ progress }) => progress?.step);
  }

  it('that does not come is reported with all groups of the namespace', async () => {
    await start();
    const wordsNow = async (): Promise<string> => {
      const nowMs = group.cluster.clock.now();
      const [heard] = await group.heardGroups('w/0');
      return stateWords(overviewRow(await group.jobSet(), null, nowMs, heard).shown, nowMs);
    };
    await group.cluster.clock.advance(30_000);
    expect(await wordsNow()).toBe('Running');
    await group.cluster.clock.advance(570_000);
    expect(await wordsNow()).toBe('Running, no step for 10m since the release');
    for (const slot of ['w/0', 'w/1', 'w/2']) group.report(slot, '1');
    await group.cluster.clock.advance(5000);
    expect(await wordsNow()).toBe('Running');
    group.exit('w/1', 7);
    await group.allIn(2, SIZE);
    // A page may be a second old.
    await group.cluster.clock.advance(2000);
    expect(await group.heardGroups('w/1')).toMatchObject([{ epoch: 2, announced: SIZE }]);
  });

  it('of a healthy run is known to the hub, and causes no write', async () => {
    await start();
    await group.cluster.clock.advance(60_000);
    const before = await versions();
    const writes = group.operatorClient.writes.length;
    for (let step = 1; step <= 1800; step++) {
      const checkpoint = step - (step % 100);
      for (const slot of ['w/0', 'w/1']) group.report(slot, `${step} checkpoint=${checkpoint}`);
      await group.cluster.clock.advance(1000);
    }
    expect(group.operatorClient.writes.slice(writes)).toEqual([]);
    expect(await versions()).toEqual(before);
    const [first, second, third] = await steps();
    expect(first).toBeGreaterThan(1790);
    expect(second).toBeGreaterThan(1790);
    expect(third).toBeUndefined();
    const [report] = await group.memberReports('w/1');
    expect(report?.progress?.checkpoint).toBeGreaterThanOrEqual(1700);
    const { steps: made = 0, ms = 1 } = report?.progress?.recent ?? {};
    expect((made * 1000) / ms).toBeCloseTo(1, 1);
  });

  it('begins again with each worker, and is forgotten with its Pod', async () => {
    await start();
    for (const slot of ['w/0', 'w/1', 'w/2']) group.report(slot, '7');
    await group.cluster.clock.advance(6000);
    expect(await steps()).toEqual([7, 7, 7]);
    group.exit('w/1', 1);
    await group.allIn(2, SIZE);
    await group.cluster.clock.advance(6000);
    expect(await steps()).toEqual([undefined, undefined, undefined]);
    group.report('w/2', '3');
    await group.cluster.clock.advance(6000);
    expect(await steps()).toEqual([undefined, undefined, 3]);
    await group.finish('w/2', 1);
    await group.allIn(3, SIZE);
    await group.cluster.clock.advance(6000);
    expect(await steps()).toEqual([undefined, undefined, undefined]);
  });
});

/** What the condition says of the hub, with its reason. */
async function reach(): Promise<string | undefined> {
  const { conditions = [] } = (await group.jobSet()).status ?? {};
  const found = conditions.find(({ type }) => type === 'HubUnreachable');
  return found && `${found.status} ${found.reason}`;
}

describe('members of one group that reach the operator on different ways', () => {
  it('restart together, whoever fails', async () => {
    hub = new HubNetwork();
    const overApi = supervised('Canonical');
    const overHub = supervisedOverHub(hub, 'Hub');
    const overBoth = supervisedOverHub(hub, 'Auto');
    group = new TrainingGroup((pod, slot, runtime, started) => {
      const start = slot === 'w/0' ? overApi : slot === 'w/1' ? overHub : overBoth;
      return start(pod, slot, runtime, started);
    }, hub);
    group.onStart = expectLockstep;
    await group.start();
    history = new StatusHistory(group.cluster);
    await group.create(SPEC, SUPERVISOR);
    await group.allIn(1, SIZE);
    for (const [i, slot] of ['w/0', 'w/1', 'w/2', 'w/0'].entries()) {
      group.exit(slot, 1);
      await group.allIn(i + 2, SIZE);
    }
    await expectRestarts(4);
    expect((await annotated()).filter((epoch) => epoch !== undefined)).toEqual(['5']);
  });

  it('follow a choice that changes while the group runs, with the next Jobs', async () => {
    await startEmpty('Auto');
    hub.channel = 'Hub';
    const replicatedJobs = ['a', 'b', 'c'].map((name) => replicatedJob(name, 1));
    await group.create({ ...SPEC, replicatedJobs }, SUPERVISOR);
    await group.allIn(1, SIZE);
    const channels = async (): Promise<readonly string[]> => {
      const pods = await group.cluster.pods();
      return pods.map(({ spec }) => {
        const env = spec.containers[0]?.env ?? [];
        return env.find(({ name }) => name === 'LOCKSTEP_AGENT_CHANNEL')?.value ?? 'API';
      });
    };
    expect(await channels()).toEqual(['Hub', 'Hub', 'Hub']);
    await group.patch({ metadata: { annotations: { 'lockstep/agent-channel': 'Auto' } } });
    await group.cluster.clock.advance(5000);
    expect(await channels()).toEqual(['Hub', 'Hub', 'Hub']);
    const at = { namespace: 'default', name: 'train-a-0' };
    await group.cluster.client.delete(JOBS, at);
    await group.allIn(2, SIZE);
    expect(new Set(await channels())).toEqual(new Set(['Hub', 'Auto']));
  });
});

describe('a group that the hub hears nothing of', () => {
  it.each(['Auto', 'Hub'] as const)(
    'says so, with channel %s, until it is heard',
    async (channel) => {
      await start(channel);
      const { acceptor } = hub;
      hub.acceptor = undefined;
      hub.breakAll();
      await group.cluster.clock.advance(15_000);
      expect(await reach()).toBeUndefined();
      await group.cluster.clock.advance(15_000);
      expect(await reach()).toBe('True NoAgentConnected');
      hub.acceptor = acceptor;
      await group.cluster.until(async () => (await reach()) === 'False HubReached');
      group.exit('w/0', 1);
      await group.allIn(2, SIZE);
      await expectRestarts(1);
    },
  );
});

describe('sidecars that start, and whose Pods are not ready', () => {
  it('say so within half a minute if they do not reach the hub, until they do', async () => {
    await startEmpty('Hub');
    hub.channel = 'Hub';
    const { cluster } = group;
    const { acceptor } = hub;
    cluster.probesFail = true;
    hub.acceptor = undefined;
    await group.create(SPEC, { ...SUPERVISOR, 'lockstep/restart-mode': 'Sidecar' });
    await cluster.until(() => Promise.resolve(hub.pods.size === SIZE));
    expect(new Set((await cluster.pods()).map(({ status }) => status?.phase))).toEqual(
      new Set(['Pending']),
    );
    await cluster.clock.advance(15_000);
    expect(await reach()).toBeUndefined();
    await cluster.clock.advance(15_000);
    expect(await reach()).toBe('True NoAgentConnected');
    expect([...group.running().values()]).toEqual([]);
    hub.acceptor = acceptor;
    await cluster.until(async () => (await reach()) === 'False HubReached');
    await group.allIn(1, SIZE);
  });
});

describe('a group of which one member does not reach the hub', () => {
  it('says so within half a minute, names it, and says when it has come', async () => {
    await start();
    const { acceptor } = hub;
    hub.detours.set('w/1', undefined);
    hub.network('w/1').breakAll();
    await group.cluster.clock.advance(30_000);
    expect(await reach()).toBe('True AgentsNotConnected');
    const { conditions = [] } = (await group.jobSet()).status ?? {};
    const { message = '' } = conditions.find(({ type }) => type === 'HubUnreachable') ?? {};
    expect(message).toContain('1 of 3 members');
    expect(message).toContain(group.podNameIn('w/1'));
    hub.detours.set('w/1', acceptor);
    await group.cluster.until(async () => (await reach()) === 'False HubReached');
  });

  it('is no alarm when another operator takes over', async () => {
    await start();
    await group.stopOperator();
    hub.breakAll();
    await group.cluster.clock.advance(20_000);
    await group.startOperator();
    await group.cluster.clock.advance(60_000);
    expect(await reach()).toBeUndefined();
  });
});

describe('a warm standby', () => {
  it('that its Pod gives up is reported once, and nothing else is written', async () => {
    await start();
    const before = group.operatorClient.writes.length;
    const agent = await connectAs('w/1');
    hub.network('w/1').isCut = true;
    agent('{"type":"hello"}\n');
    const told = async (): Promise<readonly (string | undefined)[]> =>
      (await group.events())
        .filter(({ reason }) => reason === 'StandbyOff')
        .map(({ note }) => note);
    const ping = async (standby: string): Promise<void> => {
      agent(`{"type":"ping","silentMs":0,"standby":"${standby}"}\n`);
      await group.cluster.clock.advance(500);
    };
    await ping('Ready');
    expect((await group.memberReports('w/0')).map(({ progress }) => progress?.standby)).toContain(
      'Ready',
    );
    for (let i = 0; i < 40; i++) await ping(['Ready', 'Reported', 'Exited'][i % 3] ?? '');
    const pod = group.podNameIn('w/1');
    const gaveUp = `Pod ${pod} gets no warm standby any more:`;
    expect(await told()).toEqual([
      `${gaveUp} a standby reported something else than phase=standby`,
      `${gaveUp} a standby exited with 0`,
    ]);
    expect(group.operatorClient.writes).toHaveLength(before);
    expect([...group.running().values()]).toEqual([1, 1, 1]);
  });

  it('that dies is reported, and what is wrong in that ends nothing', async () => {
    await start();
    const agent = await connectAs('w/1');
    hub.network('w/1').isCut = true;
    agent('{"type":"hello"}\n');
    let step = 0;
    const told = async (standbyDeaths: string): Promise<unknown> => {
      step++;
      agent(`{"type":"ping","silentMs":0,"step":${step},"standbyDeaths":${standbyDeaths}}\n`);
      // What the hub tells of members may be a second old.
      await group.cluster.clock.advance(3000);
      const reports = await group.memberReports('w/0');
      const progress = reports.find(({ pod }) => pod === group.podNameIn('w/1'))?.progress;
      expect(progress).toMatchObject({ step });
      return progress?.standbyDeaths;
    };
    const deaths = { count: 3, last: { exitCode: 1 } };
    expect(await told(JSON.stringify({ ...deaths, later: [1] }))).toEqual(deaths);
    expect(await told('{"count":-1}')).toBeUndefined();
    expect(await told('{"count":4,"last":{"signal":"; reboot"}}')).toEqual({ count: 4 });
    expect(await told('"many"')).toBeUndefined();
    expect(await told('{"count":5,"last":"NotReady"}')).toEqual({ count: 5, last: 'NotReady' });
    expect([...group.running().values()]).toEqual([1, 1, 1]);
  });

  it('is reported for at most ten Pods of a group at once', async () => {
    await startEmpty('Hub');
    await group.create({ ...SPEC, replicatedJobs: [replicatedJob('w', 12)] }, SUPERVISOR);
    await group.allIn(1, 12);
    for (const slot of group.running().keys()) {
      const agent = await connectAs(slot);
      agent('{"type":"hello"}\n{"type":"ping","silentMs":0,"standby":"OutOfMemory"}\n');
    }
    await group.cluster.clock.advance(5000);
    const events = (await group.events()).filter(({ reason }) => reason === 'StandbyOff');
    expect(events).toHaveLength(10);
    expect(events[0]).toMatchObject({ type: 'Warning', regarding: { name: 'train' } });
  });
});

describe('bad input over a stream', () => {
  it('of a member: an epoch that is far ahead counts as missing, and blocks no other group', async () => {
    await start();
    const rogue = await connectAs('w/1');
    rogue('{"type":"hello"}\n{"type":"announce","epoch":2147483647,"starts":1}\n');
    await group.cluster.clock.advance(5000);
    expect((await group.jobSet()).status).toMatchObject({ deprecatedEpoch: 0, syncedEpoch: 1 });
    expect((await group.events()).map(({ reason }) => reason)).toContain('InvalidEpoch');
    expect([...group.running().values()]).toEqual([1, 1, 1]);
  });

  it('of strangers: none is let in, and no member notices', async () => {
    await start();
    const answers = await Promise.all([
      hub.acceptor?.({ token: undefined, address: 'x' }),
      hub.acceptor?.({ token: 'forged', address: 'x' }),
    ]);
    expect(answers).toEqual([
      { kind: 'Refuse', status: 401, reason: 'no bearer token' },
      { kind: 'Refuse', status: 401, reason: 'the token is not valid: unknown' },
    ]);
    group.exit('w/0', 1);
    await group.allIn(2, SIZE);
    await expectRestarts(1);
  });

  it('of a Pod that is gone: its token opens nothing any more', async () => {
    await start();
    const uid = [...(await group.podUids()).entries()].find(
      ([name]) => name === group.podNameIn('w/1'),
    )?.[1];
    await group.finish('w/1', 1);
    await group.allIn(2, SIZE);
    const answer = await hub.acceptor?.({ token: uid, address: 'x' });
    expect(answer).toMatchObject({ kind: 'Refuse', status: 410 });
  });
});

/** Connects with the token of the Pod in a slot. */
async function connectAs(slot: string): Promise<(text: string) => void> {
  const uid = (await group.podUids()).get(group.podNameIn(slot));
  const network = hub.networkOf('rogue', group.cluster.clock);
  const listener = { received: () => undefined, closed: () => undefined };
  const stream = await network.connector(() => uid).connect(listener, new AbortController().signal);
  return (text) => stream.write(Buffer.from(text));
}
