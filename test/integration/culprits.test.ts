/**
 * Who failed first, with the real operator, hub, channels and API server under a virtual clock, and
 * agents that tell of their workers what each test says (`docs/design/culprits.md`).
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHubChannel } from '../../src/agent/hub-channel.ts';
import type { RestartRecord } from '../../src/jobset/jobset-status.ts';
import { aborted } from '../../src/operator/process/term.ts';
import { apiChannelOf } from '../../src/simulator/pods/pod-agents.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { type Evidence, EXITED, KILLED, STEPPING, Teller } from './teller.fixture.ts';
import {
  type AgentRuntime,
  HubNetwork,
  type Member,
  TrainingGroup,
} from './training-group.fixture.ts';

const SIZE = 4;
const HUNG: Evidence = { how: 'Hung', silentMs: 61_000, longestMs: 900, step: 330, cpuMs: 20 };
const STATUS = 'update jobsets/status';

let hub: HubNetwork;
let group: TrainingGroup;
let members: Map<string, Teller>;
/** Slots whose agents use the API server. */
let overApi: Set<string>;

beforeEach(() => {
  hub = new HubNetwork();
  members = new Map();
  overApi = new Set();
  group = new TrainingGroup(startTeller, hub);
});

afterEach(() => group.stop());

function startTeller(
  pod: Stored<Pod>,
  slot: string,
  runtime: AgentRuntime,
  started: (epoch: number) => void,
): Member {
  const { clock } = runtime;
  hub.pods.set(pod.metadata.uid, pod);
  const connector = hub.networkOf(slot, clock).connector(() => pod.metadata.uid);
  const jobSetUid = pod.metadata.labels?.['jobset.sigs.k8s.io/jobset-uid'];
  const channel = overApi.has(slot)
    ? apiChannelOf(pod, 'Canonical', runtime, 0)
    : createHubChannel({ ...runtime, connector, jobSetUid });
  const teller = new Teller(pod, slot, channel, clock, started);
  members.set(slot, teller);
  return teller;
}

async function start(maxRestarts = 5): Promise<void> {
  await group.start();
  const failurePolicy = { restartStrategy: 'InPlaceRestart', maxRestarts } as const;
  const spec = { replicatedJobs: [replicatedJob('w', SIZE)], failurePolicy };
  await group.create(spec, { 'lockstep/restart-mode': 'Supervisor' });
  await group.allIn(1, SIZE);
}

function member(index: number): Teller {
  const found = members.get(`w/${index}`);
  if (found === undefined) throw new Error(`no member has index ${index}`);
  return found;
}

async function newest(): Promise<RestartRecord | undefined> {
  return (await group.jobSet()).status?.restartHistory?.[0];
}

describe('a group over the hub', () => {
  it('names the worker that died first, though another was heard of first', async () => {
    await start();
    const before = group.operatorClient.writes.length;
    member(0).die(EXITED);
    member(2).die({ ...KILLED, lastWords: 'out of \u001b[31mmemory', saidMs: 9000 }, 300);
    await group.allIn(2, SIZE);
    const record = await newest();
    expect(record?.witness).toMatchObject({
      pod: member(0).podName,
      worker: 'worker 0 of w (w-0, index 0)',
    });
    expect(record?.suspects).toEqual([
      {
        worker: 'worker 2 of w (w-0, index 2)',
        replicatedJob: 'w',
        jobIndex: 0,
        completionIndex: 2,
        pod: member(2).podName,
        node: expect.any(String),
        why: 'was killed by SIGKILL',
        confidence: 'Certain',
      },
    ]);
    expect(record?.lastWords).toEqual({
      pod: member(2).podName,
      text: 'out of \uFFFD[31mmemory',
      beforeEndMs: 9000,
    });
    const writes = group.operatorClient.writes.slice(before).map(({ what }) => what);
    expect(writes, 'suspects cost no write').toEqual([STATUS, STATUS]);
  });

  it('names the stopped one of a group that hangs', async () => {
    await start();
    member(2).whenStopped = { ...HUNG, how: 'Killed', states: 'T', stoppedMs: 60_000, cpuMs: 0 };
    for (const index of [1, 3]) member(index).whenStopped = { ...HUNG, how: 'Killed' };
    member(0).die(HUNG);
    await group.allIn(2, SIZE);
    const record = await newest();
    expect(record?.witness).toMatchObject({
      reason: 'WorkerHung',
      message: 'made no progress for 61 s at step 330',
    });
    expect(record?.suspects).toMatchObject([{ completionIndex: 2, confidence: 'Certain' }]);
  });

  it('names the culprit of a crash loop at the start of its back-off, with one more write', async () => {
    await start(20);
    const { clock } = group.cluster;
    for (let epoch = 1; epoch <= 7; epoch++) {
      await group.allIn(epoch, SIZE);
      member(2).die({ ...KILLED, lastWords: `the end of ${epoch}` });
      if (epoch < 7) await group.allIn(epoch + 1, SIZE);
    }
    const before = group.operatorClient.writes.length;
    const endedMs = clock.monotonic();
    await group.until(
      ({ restartHistory: [of] = [] }) => of?.epoch === 7 && of.suspects !== undefined,
    );
    expect(clock.monotonic() - endedMs).toBeLessThan(1500);
    const told = await newest();
    expect(told).toMatchObject({
      suspects: [{ completionIndex: 2, confidence: 'Certain' }],
      lastWords: { text: 'the end of 7' },
    });
    await group.allIn(8, SIZE);
    expect(clock.monotonic() - endedMs).toBeGreaterThanOrEqual(8000);
    expect(clock.monotonic() - endedMs).toBeLessThan(9000);
    const { suspects, lastWords } = (await newest()) ?? {};
    expect({ suspects, lastWords }).toEqual({
      suspects: told?.suspects,
      lastWords: told?.lastWords,
    });
    const writes = group.operatorClient.writes.slice(before).map(({ what }) => what);
    expect(writes, 'the end, the suspects and the release').toEqual([STATUS, STATUS, STATUS]);
  });

  it('names one that printed a traceback, and took longer to end than the others', async () => {
    await start();
    member(2).whenStopped = {
      ...STEPPING,
      how: 'Stopped',
      exit: { exitCode: 1 },
      silentMs: 8400,
      failedMs: 8000,
    };
    for (const index of [1, 3]) {
      member(index).whenStopped = { ...STEPPING, how: 'Stopped', silentMs: 8400 };
    }
    member(0).die({ ...EXITED, silentMs: 8400, failedMs: 100 });
    await group.allIn(2, SIZE);
    expect((await newest())?.suspects).toMatchObject([
      {
        completionIndex: 2,
        why: 'printed a traceback 8 s before it ended, before the others failed',
        confidence: 'Likely',
      },
    ]);
  });

  it('keeps suspects of older restarts, and last words of the newest alone', async () => {
    await start();
    member(1).die({ ...KILLED, lastWords: 'first' });
    await group.allIn(2, SIZE);
    member(3).die({ ...KILLED, lastWords: 'second' });
    await group.allIn(3, SIZE);
    const { restartHistory = [] } = (await group.jobSet()).status ?? {};
    expect(restartHistory.map(({ suspects }) => suspects?.[0]?.completionIndex)).toEqual([3, 1]);
    expect(restartHistory.map(({ lastWords }) => lastWords?.text)).toEqual(['second', undefined]);
  });

  it('records the failure beyond the budget', async () => {
    await start(0);
    member(2).die({ ...KILLED, lastWords: 'the end' });
    await group.until(({ terminalState }) => terminalState === 'Failed');
    expect((await group.jobSet()).status?.deprecatedEpoch ?? 0).toBe(0);
    expect(await newest()).toMatchObject({
      epoch: 1,
      counted: false,
      suspects: [{ completionIndex: 2, confidence: 'Likely' }],
      lastWords: { pod: expect.any(String), text: 'the end' },
    });
  });

  it.each([
    ['fails', () => Promise.reject(new Error('no Pods today'))],
    ['hangs', (signal: AbortSignal) => aborted(signal).then(() => signal.throwIfAborted())],
  ])('is released without the name of a node where reading the Pod %s', async (_, read) => {
    let isBroken = false;
    group.asOperator = (client) =>
      new Proxy(client, {
        get(target, name: keyof Client) {
          if (name !== 'get' || !isBroken) return target[name].bind(target);
          return (...[resource, at, options = {}]: Parameters<Client['get']>) =>
            (resource as unknown) === PODS
              ? read(options.signal ?? new AbortController().signal)
              : target.get(resource, at, options);
        },
      });
    await start();
    member(2).whenStopped = undefined;
    member(0).die(EXITED);
    await group.until(({ deprecatedEpoch }) => deprecatedEpoch === 1);
    isBroken = true;
    member(2).die(KILLED, 9000);
    const beforeMs = group.cluster.clock.monotonic();
    await group.allIn(2, SIZE);
    expect(group.cluster.clock.monotonic() - beforeMs).toBeLessThan(1500);
    const [suspect] = (await newest())?.suspects ?? [];
    expect(suspect).toMatchObject({ completionIndex: 2, confidence: 'Certain' });
    expect(suspect).not.toHaveProperty('node');
  });

  it('names the same one after a change of the leader, to whom agents repeat their words', async () => {
    await start();
    member(1).whenStopped = undefined;
    member(2).die(KILLED);
    await group.until(({ deprecatedEpoch }) => deprecatedEpoch === 1);
    member(1).whenStopped = { ...STEPPING, how: 'Stopped' };
    await group.startOperator();
    await group.allIn(2, SIZE);
    expect((await newest())?.suspects).toMatchObject([
      { completionIndex: 2, confidence: 'Certain' },
    ]);
  });
});

describe('a group with mixed channels', () => {
  it('makes its suspects likely only', async () => {
    overApi.add('w/1');
    await start();
    member(2).die(KILLED);
    await group.allIn(2, SIZE);
    expect((await newest())?.suspects).toMatchObject([
      { completionIndex: 2, confidence: 'Likely' },
    ]);
  });

  it('names a worker whose agent tells over the API server', async () => {
    overApi.add('w/2');
    await start();
    member(2).die(KILLED);
    await group.allIn(2, SIZE);
    expect((await newest())?.suspects).toMatchObject([
      { completionIndex: 2, why: 'was killed by SIGKILL', confidence: 'Likely' },
    ]);
  });
});
