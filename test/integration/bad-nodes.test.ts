/**
 * Members that leave bad nodes, with the real operator, webhooks of Pods, hub, channels, Job
 * controller and scheduler under a virtual clock. Workers on bad nodes die at their start.
 */

import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import { COMPLETION_INDEX, type JobSpec } from '@lockstep/kube/objects/job.ts';
import { NODES } from '@lockstep/kube/objects/node.ts';
import type { Pod, PodSpec } from '@lockstep/kube/objects/pod.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { createHubChannel } from '../../src/agent/hub-channel.ts';
import type { JobSetSpec, ReplicatedJob } from '../../src/jobset/jobset.ts';
import type { JobSetStatus } from '../../src/jobset/jobset-status.ts';
import { EXCLUSIVE_TOPOLOGY, REPLICATED_JOB_NAME } from '../../src/jobset/names.ts';
import { forgetRequest } from '../../src/jobset/policies/forget-nodes.ts';
import { apiChannelOf } from '../../src/simulator/pods/pod-agents.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { PodAdmission } from './pod-admission.fixture.ts';
import { type Evidence, KILLED, Teller } from './teller.fixture.ts';
import {
  type AgentRuntime,
  HubNetwork,
  type Member,
  TrainingGroup,
} from './training-group.fixture.ts';

const REPLACE = { 'lockstep/restart-mode': 'Supervisor', 'lockstep/replace-after': '3/1h' };
const PREFLIGHT = { 'lockstep/restart-mode': 'Supervisor', 'lockstep/preflight': 'check' };
/** At the second failure. */
const STRIKES = { ...REPLACE, 'lockstep/replace-after': '2/1h' };
const UNFIT: Evidence = { ...KILLED, unfit: 'no GPU' };
const BUDGET = 30;
const TIMEOUT_MS = 180_000;

/** How the worker of a Pod ends when it has started in that epoch, and how long after; or not. */
type Fault = (
  node: string,
  slot: string,
  epoch: number,
) => { readonly afterMs: number; readonly evidence: Evidence } | undefined;

class World {
  readonly hub = new HubNetwork();
  readonly group: TrainingGroup;
  #admission: PodAdmission | undefined;
  /** Slots whose agents use the API server. */
  readonly overApi = new Set<string>();
  fault: Fault = () => undefined;
  /** The newest of each slot. */
  readonly #tellers = new Map<string, Teller>();

  constructor() {
    this.group = new TrainingGroup(this.#start, this.hub);
  }

  /** One node for each member, and some to spare; each has `labels`. */
  async begin(
    spec: JobSetSpec,
    annotations: StringMap,
    nodes: number,
    labels: (node: number) => StringMap = () => ({}),
  ): Promise<void> {
    const { cluster } = this.group;
    await this.group.start();
    this.#admission = new PodAdmission(cluster);
    await this.#admission.start();
    const one = { allocatable: { cpu: '64', memory: '64Gi', pods: '1' } };
    for (let i = 0; i < nodes; i++) {
      await cluster.addNode(`m${String(i).padStart(3, '0')}`, one, labels(i));
    }
    await cluster.client.patch(NODES, { name: 'n1' }, CORDON);
    await this.group.create(spec, annotations);
  }

  async stop(): Promise<void> {
    await this.#admission?.stop();
    await this.group.stop();
  }

  /** The worker in a slot dies, and its agent tells how. */
  tell(slot: string, evidence: Evidence): void {
    this.#tellers.get(slot)?.die(evidence);
  }

  async status(): Promise<JobSetStatus> {
    return (await this.group.jobSet()).status ?? {};
  }

  async until(isDone: (status: JobSetStatus) => boolean): Promise<JobSetStatus> {
    await this.group.until(isDone);
    return this.status();
  }

  /** Pods that run and stay, by slot. */
  async pods(): Promise<ReadonlyMap<string, Stored<Pod>>> {
    const living = (await this.group.cluster.pods()).filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined && status?.phase === 'Running',
    );
    return new Map(living.map((pod) => [slotOf(pod), pod]));
  }

  readonly #start = (
    pod: Stored<Pod>,
    _slot: string,
    runtime: AgentRuntime,
    started: (epoch: number) => void,
  ): Member => {
    const { clock } = runtime;
    const { uid, labels } = pod.metadata;
    const slot = slotOf(pod);
    this.hub.pods.set(uid, pod);
    const connector = this.hub.networkOf(slot, clock).connector(() => uid);
    const jobSetUid = labels?.['jobset.sigs.k8s.io/jobset-uid'];
    const channel = this.overApi.has(slot)
      ? apiChannelOf(pod, 'Canonical', runtime, 0)
      : createHubChannel({ ...runtime, connector, jobSetUid });
    const teller: Teller = new Teller(pod, slot, channel, clock, (epoch) => {
      started(epoch);
      const fault = this.fault(pod.spec.nodeName ?? '', slot, epoch);
      if (fault === undefined) return;
      clock.setTimer(fault.afterMs, () => {
        if (teller.epoch === epoch) teller.die(fault.evidence);
      });
    });
    this.#tellers.set(slot, teller);
    return teller;
  };
}

const CORDON = { type: 'merge', patch: { spec: { unschedulable: true } } } as const;

/** Pods of a NonIndexed Job have no other slot than their names. */
function slotOf({ metadata }: Stored<Pod>): string {
  const { name, labels, annotations } = metadata;
  return `${labels?.[REPLICATED_JOB_NAME]}/${annotations?.[COMPLETION_INDEX] ?? name}`;
}

function specOf(...stages: readonly number[]): JobSetSpec {
  return {
    replicatedJobs: stages.map((pods, index) => replicatedJob(`w${index}`, pods)),
    failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: BUDGET },
  };
}

/** With a host name, as Kueue binds each Pod where a topology ends with those. */
function withSelector(nodeSelector: StringMap, job: ReplicatedJob): ReplicatedJob {
  const { template, ...rest } = job.template.spec;
  const pods = { ...template, spec: { ...template.spec, nodeSelector } };
  return { ...job, template: { ...job.template, spec: { ...rest, template: pods } } };
}

type Pods = ReadonlyMap<string, Stored<Pod>>;

/** Slots whose Pods are others now, or gone. */
function moved(before: Pods, after: Pods): string[] {
  const isOther = ([slot, { metadata }]: [string, Stored<Pod>]): boolean =>
    after.get(slot)?.metadata.uid !== metadata.uid;
  return [...before].filter(isOther).map(([slot]) => slot);
}

function nodesOf(pods: Pods, slots: readonly string[]): readonly string[] {
  return slots.map((slot) => pods.get(slot)?.spec.nodeName ?? 'none');
}

let world: World;
afterEach(() => world.stop());

describe('256 members', () => {
  const SIZE = 256;

  async function begin(annotations: StringMap, fault: Fault): Promise<Pods> {
    world = new World();
    await world.begin(specOf(SIZE), annotations, SIZE + 4);
    await world.group.allIn(1, SIZE);
    const before = await world.pods();
    expect(before.size).toBe(SIZE);
    world.fault = fault;
    return before;
  }

  it(
    'of which two are on bad nodes: both leave within 3 restarts each, and no other',
    async () => {
      const bad = new Map<string, number>();
      const before = await begin(REPLACE, (node) => {
        const afterMs = bad.get(node);
        return afterMs === undefined ? undefined : { afterMs, evidence: KILLED };
      });
      const nodes = nodesOf(before, ['w0/17', 'w0/200']);
      bad.set(nodes[0] ?? '', 1000);
      bad.set(nodes[1] ?? '', 4000);
      world.tell('w0/17', KILLED);
      const done = await world.until(
        ({ avoidedNodes = [], syncedEpoch = 0, deprecatedEpoch = 0 }) =>
          avoidedNodes.length === 2 && syncedEpoch > deprecatedEpoch,
      );
      expect(done.avoidedNodes?.map(({ node }) => node).toSorted()).toEqual(nodes.toSorted());
      expect(done.inPlaceRestarts).toBeLessThanOrEqual(6);
      expect(done.inPlaceRestartsCountTowardsMax).toBe(done.inPlaceRestarts);
      await world.group.allIn(done.syncedEpoch ?? 0, SIZE);
      expect(moved(before, await world.pods()).toSorted()).toEqual(['w0/17', 'w0/200']);
    },
    TIMEOUT_MS,
  );

  it.each<[string, Fault]>([
    ['a bug in the image kills all at one step', () => ({ afterMs: 1000, evidence: KILLED })],
    [
      'another one dies each time',
      (_, slot, epoch) =>
        slot === `w0/${(epoch * 37) % SIZE}` ? { afterMs: 1000, evidence: KILLED } : undefined,
    ],
  ])(
    'keep their Pods if %s',
    async (_, fault) => {
      const before = await begin(REPLACE, fault);
      world.tell('w0/5', KILLED);
      const { avoidedNodes } = await world.until(({ deprecatedEpoch = 0 }) => deprecatedEpoch >= 6);
      expect(avoidedNodes).toBeUndefined();
      expect(moved(before, await world.pods())).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe('a member whose preflight does not pass', () => {
  it.each([
    ['over the hub', []],
    ['over the API server', ['w0/1']],
    ['by a group that has no other channel', ['w0/0', 'w0/1', 'w0/2']],
  ])('leaves its node at once, reported %s', async (_, overApi) => {
    world = new World();
    for (const slot of overApi) world.overApi.add(slot);
    await world.begin(specOf(3), PREFLIGHT, 5);
    await world.group.allIn(1, 3);
    const before = await world.pods();
    const [bad] = nodesOf(before, ['w0/1']);
    world.tell('w0/1', UNFIT);
    await world.until(({ syncedEpoch }) => syncedEpoch === 2);
    await world.group.allIn(2, 3);
    const { avoidedNodes, inPlaceRestarts } = await world.status();
    expect(avoidedNodes).toMatchObject([
      { node: bad, reason: 'its preflight did not pass: no GPU' },
    ]);
    expect(inPlaceRestarts).toBe(1);
    expect(moved(before, await world.pods())).toEqual(['w0/1']);
    expect(world.group.operatorClient.count('delete pods')).toBe(1);
  });

  it('restarts in place if its Pods are bound to that node, which its record says', async () => {
    world = new World();
    const spec = {
      ...specOf(),
      replicatedJobs: [
        withSelector({ pool: 'a' }, replicatedJob('w0', 2)),
        withSelector({ 'kubernetes.io/hostname': 'm001' }, replicatedJob('w1', 1)),
      ],
    };
    await world.begin(spec, PREFLIGHT, 5, (node) =>
      node === 1 ? { 'kubernetes.io/hostname': 'm001' } : { pool: 'a' },
    );
    await world.group.allIn(1, 3);
    const before = await world.pods();
    expect(nodesOf(before, ['w1/0'])).toEqual(['m001']);
    world.tell('w1/0', UNFIT);
    await world.until(({ syncedEpoch }) => syncedEpoch === 2);
    await world.group.allIn(2, 3);
    expect((await world.status()).avoidedNodes).toBeUndefined();
    expect(moved(before, await world.pods())).toEqual([]);
    const told = (await world.group.events()).filter(({ reason }) => reason === 'MemberPinned');
    expect(told.map(({ note }) => note)).toEqual([
      expect.stringContaining('its node selector kubernetes.io/hostname=m001 would bind'),
    ]);
  });

  it('may come back to a node that was forgotten, and leaves it again at the next failure', async () => {
    world = new World();
    await world.begin(specOf(2), PREFLIGHT, 3);
    await world.group.allIn(1, 2);
    const [bad = ''] = nodesOf(await world.pods(), ['w0/1']);
    world.tell('w0/1', UNFIT);
    await world.until(({ avoidedNodes = [] }) => avoidedNodes.length === 1);
    // Asked in the middle of the restart: the entry still says which Pod has to go.
    const { avoidedNodes: entries = [] } = await world.status();
    const annotations = { 'lockstep/forget-nodes': forgetRequest(entries) };
    await world.group.patch({ metadata: { annotations } });
    await world.until(({ syncedEpoch }) => syncedEpoch === 2);
    await world.group.allIn(2, 2);
    await world.until(({ avoidedNodes = [] }) => avoidedNodes.length === 0);
    // The only other node of the three that is free.
    const [elsewhere] = nodesOf(await world.pods(), ['w0/1']);
    expect(elsewhere).not.toBe(bad);
    world.tell('w0/1', UNFIT);
    await world.until(({ syncedEpoch }) => syncedEpoch === 3);
    await world.group.allIn(3, 2);
    expect(nodesOf(await world.pods(), ['w0/1'])).toEqual([bad]);
    world.tell('w0/1', UNFIT);
    await world.until(({ syncedEpoch }) => syncedEpoch === 4);
    await world.group.cluster.clock.advance(60_000);
    const { avoidedNodes = [] } = await world.status();
    expect(avoidedNodes.map(({ node }) => node)).toEqual([bad, elsewhere]);
    const told = (await world.group.events()).filter(({ reason }) => reason === 'NodesForgotten');
    expect(told.map(({ note }) => note)).toEqual([
      `not avoided any more, as lockstep/forget-nodes asks: ${bad}`,
    ]);
  });

  it('leaves it in a group that starts in order', async () => {
    world = new World();
    const spec = { ...specOf(1, 2), startupPolicy: { startupPolicyOrder: 'InOrder' } } as const;
    await world.begin(spec, PREFLIGHT, 6);
    await world.group.allIn(1, 3);
    const before = await world.pods();
    world.tell('w1/0', UNFIT);
    await world.until(({ syncedEpoch }) => syncedEpoch === 2);
    await world.group.allIn(2, 3);
    expect(moved(before, await world.pods())).toEqual(['w1/0']);
    expect((await world.status()).inPlaceRestarts).toBe(1);
  });

  it('is left alone by a suspend before its new Pod has come, and all run after the resume', async () => {
    world = new World();
    await world.begin(specOf(2), PREFLIGHT, 4);
    await world.group.allIn(1, 2);
    world.tell('w0/1', UNFIT);
    await world.until(({ avoidedNodes = [] }) => avoidedNodes.length === 1);
    await world.group.patch({ spec: { suspend: true } });
    await world.group.cluster.clock.advance(30_000);
    expect(world.group.running().size).toBe(0);
    await world.group.patch({ spec: { suspend: false } });
    await world.until(({ syncedEpoch = 0, deprecatedEpoch = 0 }) => syncedEpoch > deprecatedEpoch);
    await world.group.allIn((await world.status()).syncedEpoch ?? 0, 2);
    const { avoidedNodes, inPlaceRestartsCountTowardsMax } = await world.status();
    expect([avoidedNodes?.length, inPlaceRestartsCountTowardsMax]).toEqual([1, 1]);
  });
});

it.each<[string, StringMap, Evidence, number]>([
  ['does not pass its preflight', PREFLIGHT, UNFIT, 0],
  ['is the first to fail too often', STRIKES, KILLED, 1],
])(
  'a member that %s leaves its node once, whichever write or deletion the operator dies at',
  async (_, annotations, evidence, earlier) => {
    const last = 1 + earlier;
    const live = async (diesAt: number | undefined, diesBefore: boolean) => {
      world = new World();
      const { group } = world;
      let isDead = false;
      let hasDied = false;
      await world.begin(specOf(2), annotations, 4);
      for (let epoch = 1; epoch < last; epoch++) {
        await group.allIn(epoch, 2);
        world.tell('w0/1', evidence);
      }
      await group.allIn(last, 2);
      const before = await world.pods();
      await group.startOperator((client) => {
        client.diesAt = diesAt;
        client.diesBefore = diesBefore;
        client.onDeath = () => {
          isDead = true;
        };
      });
      const first = group.operatorClient;
      const old = group.podNameIn('w0/1');
      const newPodIsThere: boolean[] = [];
      group.onStart = () => newPodIsThere.push(group.podNameIn('w0/1') !== old);
      world.tell('w0/1', evidence);
      for (let second = 0; second < 3; second++) {
        await group.cluster.clock.advance(1000);
        if (isDead) await group.startOperator();
        hasDied ||= isDead;
        isDead = false;
      }
      await world.until(({ syncedEpoch }) => syncedEpoch === last + 1);
      await group.allIn(last + 1, 2);
      const status = await world.status();
      const result = {
        nodes: status.avoidedNodes?.map(({ node }) => node),
        deprecatedEpoch: status.deprecatedEpoch,
        charged: status.inPlaceRestartsCountTowardsMax,
        moved: moved(before, await world.pods()),
        newPodIsThere,
      };
      const expected = {
        nodes: nodesOf(before, ['w0/1']),
        deprecatedEpoch: last,
        charged: last,
        moved: ['w0/1'],
        newPodIsThere: [true, true],
      };
      return { writes: first.writes.map(({ what }) => what), hasDied, result, expected };
    };
    const { writes, result, expected } = await live(undefined, false);
    expect(writes).toContain('delete pods');
    expect(result).toEqual(expected);
    // Before that, it only finds what is there already.
    const firstWrite = writes.indexOf('update jobsets/status');
    for (let diesAt = firstWrite; diesAt <= writes.lastIndexOf('delete pods') + 1; diesAt++) {
      for (const diesBefore of [true, false]) {
        await world.stop();
        const when = `${diesBefore ? 'before' : 'after'} ${diesAt}: ${writes[diesAt]}`;
        const { hasDied, result, expected } = await live(diesAt, diesBefore);
        expect([hasDied, result], when).toEqual([true, expected]);
      }
    }
  },
  TIMEOUT_MS,
);

describe('a member that leaves its node', () => {
  it.each<[string, readonly number[], readonly string[], number]>([
    ['as a follower, goes to another node of its rack', [3, 3], ['w0/1'], 4],
    ['as the leader, goes to another node of its rack', [3, 3], ['w0/0'], 4],
    ['with others of its Job, goes to other nodes of its rack', [3, 3], ['w0/0', 'w0/2'], 5],
    ['as a follower, comes back if its rack has no other', [3, 3], ['w0/1'], 3],
    ['as the leader, comes back if its rack has no other', [3, 3], ['w0/0'], 3],
    ['with all others of its Job, goes to another rack', [2, 2], ['w0/0', 'w0/1'], 2],
    ['as the only one of its Job, goes to another rack', [1, 1], ['w0/0'], 1],
  ])('%s', async (_, stages, leaving, rackSize) => {
    world = new World();
    const rackOf = (node: string): number => Math.floor(Number(node.slice(1)) / rackSize);
    const annotations = { ...PREFLIGHT, [EXCLUSIVE_TOPOLOGY]: 'rack' };
    await world.begin(specOf(...stages), annotations, 3 * rackSize, (index) => ({
      rack: `rack-${Math.floor(index / rackSize)}`,
    }));
    const size = stages.reduce((sum, pods) => sum + pods, 0);
    await world.group.allIn(1, size);
    const before = await world.pods();
    for (const slot of leaving) world.tell(slot, UNFIT);
    await world.until(({ syncedEpoch }) => syncedEpoch === 2);
    await world.group.allIn(2, size);
    const after = await world.pods();
    expect(moved(before, after).toSorted()).toEqual(leaving);
    expect((await world.status()).inPlaceRestarts).toBe(1);

    const left = nodesOf(before, leaving);
    for (const slot of leaving) {
      const { preferredDuringSchedulingIgnoredDuringExecution: preferred = [] } =
        after.get(slot)?.spec.affinity?.nodeAffinity ?? {};
      expect(preferred).toMatchObject([{ weight: 100 }]);
      const fields = preferred[0]?.preference.matchFields ?? [];
      expect(fields.every(({ operator }) => operator === 'NotIn')).toBe(true);
      expect(new Set(fields.flatMap(({ values }) => values))).toEqual(new Set(left));
    }
    const racksOf = (pods: Pods, stage: string): readonly number[] => {
      const slots = [...pods.keys()].filter((slot) => slot.startsWith(stage));
      return [...new Set(nodesOf(pods, slots).map(rackOf))];
    };
    expect(racksOf(after, 'w1')).toEqual(racksOf(before, 'w1'));
    const [own = -1] = racksOf(before, 'w0');
    const [other = -1] = racksOf(before, 'w1');
    const isWhole = leaving.length === stages[0];
    expect(racksOf(after, 'w0')).toEqual([isWhole ? 3 - own - other : own]);
    const isBack = !isWhole && rackSize === stages[0];
    const now = nodesOf(after, leaving);
    expect(left.filter((node) => now.includes(node))).toEqual(isBack ? left : []);
  });

  it.each([
    ['goes to another node of its flavor', 4],
    ['comes back if its flavor has no other', 3],
  ])('and has a node selector of Kueue %s', async (_, spot) => {
    world = new World();
    const nodeSelector = { flavor: 'spot' };
    await world.begin(specWith({}, { nodeSelector }), PREFLIGHT, 2 * spot, (index) => ({
      flavor: index < spot ? 'spot' : 'reserved',
    }));
    await world.group.allIn(1, 3);
    const before = await world.pods();
    world.tell('w0/1', UNFIT);
    await world.until(({ syncedEpoch }) => syncedEpoch === 2);
    await world.group.allIn(2, 3);
    const after = await world.pods();
    expect(moved(before, after)).toEqual(['w0/1']);
    expect(after.get('w0/1')?.spec.nodeSelector).toEqual(nodeSelector);
    const used = nodesOf(before, [...before.keys()]);
    const all = Array.from({ length: spot }, (_, index) => `m00${index}`);
    const free = all.filter((node) => !used.includes(node));
    const bad = nodesOf(before, ['w0/1']);
    expect(nodesOf(after, ['w0/1'])).toEqual(free.length === 0 ? bad : free);
  });

  it.each<[string, StringMap, Evidence, number]>([
    ['whose preflight does not pass', PREFLIGHT, UNFIT, 1],
    ['that is the first to fail too often', STRIKES, KILLED, 2],
  ])('and is one of a NonIndexed Job %s', async (_, annotations, evidence, ends) => {
    world = new World();
    await world.begin(specWith({ completionMode: 'NonIndexed' }), annotations, 5);
    await world.group.allIn(1, 3);
    const before = await world.pods();
    const [, slot = ''] = before.keys();
    for (let epoch = 1; epoch <= ends; epoch++) {
      await world.group.allIn(epoch, 3);
      world.tell(slot, evidence);
    }
    await world.until(({ syncedEpoch = 0 }) => syncedEpoch > ends);
    await world.group.allIn(ends + 1, 3);
    const after = await world.pods();
    expect(moved(before, after)).toEqual([slot]);
    const { avoidedNodes, inPlaceRestarts } = await world.status();
    expect(inPlaceRestarts).toBe(ends);
    const [bad] = nodesOf(before, [slot]);
    expect(avoidedNodes?.map(({ node }) => node)).toEqual([bad]);
    expect(nodesOf(after, [...after.keys()])).not.toContain(bad);
  });
});

/** Three Pods of one Job. */
function specWith(job: Partial<JobSpec>, pod: Partial<PodSpec> = {}): JobSetSpec {
  const { replicatedJobs: [only] = [], ...spec } = specOf(3);
  if (only === undefined) throw new Error('specOf made no ReplicatedJob');
  const { spec: whole } = only.template;
  const template = { ...whole.template, spec: { ...whole.template.spec, ...pod } };
  return {
    ...spec,
    replicatedJobs: [{ ...only, template: { spec: { ...whole, ...job, template } } }],
  };
}
