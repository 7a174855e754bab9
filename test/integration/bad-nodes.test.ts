/**
 * Members that leave bad nodes, with the real operator, hub, channels, Job controller and scheduler
 * under a virtual clock. Workers on bad nodes die at their start. The test keeps new Pods from nodes
 * that were left, which the operator's webhook does in a cluster.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { createHubChannel } from '../../src/agent/hub-channel.ts';
import type { JobSetSpec, JobSetStatus } from '../../src/jobset/jobset.ts';
import type { Stored, StringMap } from '../../src/kube/meta.ts';
import { NODES } from '../../src/kube/objects/node.ts';
import { PODS, type Pod } from '../../src/kube/objects/pod.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { type Evidence, KILLED, Teller } from './teller.fixture.ts';
import {
  type AgentRuntime,
  apiChannelOf,
  HubNetwork,
  type Member,
  TrainingGroup,
} from './training-group.fixture.ts';

const REPLACE = { 'lockstep/restart-mode': 'Supervisor', 'lockstep/replace-after': '3/1h' };
const PREFLIGHT = { 'lockstep/restart-mode': 'Supervisor', 'lockstep/preflight': 'check' };
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
  /** Slots whose agents use the API server. */
  readonly overApi = new Set<string>();
  fault: Fault = () => undefined;
  /** The newest of each slot. */
  readonly #tellers = new Map<string, Teller>();

  constructor() {
    this.group = new TrainingGroup(this.#start, this.hub);
  }

  /** One node for each member, and some to spare. */
  async begin(spec: JobSetSpec, annotations: StringMap, nodes: number): Promise<void> {
    const { cluster } = this.group;
    await this.group.start();
    const one = { allocatable: { cpu: '64', memory: '64Gi', pods: '1' } };
    for (let i = 0; i < nodes; i++) await cluster.addNode(`m${String(i).padStart(3, '0')}`, one);
    await cluster.client.patch(NODES, { name: 'n1' }, CORDON);
    await this.group.create(spec, annotations);
  }

  /** The worker in a slot dies, and its agent tells how. */
  tell(slot: string, evidence: Evidence): void {
    this.#tellers.get(slot)?.die(evidence);
  }

  async status(): Promise<JobSetStatus> {
    return (await this.group.jobSet()).status ?? {};
  }

  /** Cordons nodes that were left, until `isDone`. */
  async until(isDone: (status: JobSetStatus) => boolean): Promise<JobSetStatus> {
    const { cluster } = this.group;
    const left = new Set<string>();
    await cluster.until(async () => {
      const status = await this.status();
      for (const { node } of status.avoidedNodes ?? []) {
        if (left.has(node)) continue;
        left.add(node);
        await cluster.client.patch(NODES, { name: node }, CORDON);
      }
      return isDone(status);
    });
    return this.status();
  }

  /** The UIDs of Pods by slot. */
  async places(): Promise<ReadonlyMap<string, string>> {
    const { items } = await this.group.cluster.client.list(PODS, { namespace: 'default' });
    const living = items.filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined && status?.phase === 'Running',
    );
    return new Map(living.map((pod) => [slotOf(pod), pod.metadata.uid]));
  }

  readonly #start = (
    pod: Stored<Pod>,
    slot: string,
    runtime: AgentRuntime,
    started: (epoch: number) => void,
  ): Member => {
    const { clock } = runtime;
    const { uid, labels } = pod.metadata;
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

function slotOf({ metadata }: Stored<Pod>): string {
  const { labels, annotations } = metadata;
  return `${labels?.['jobset.sigs.k8s.io/replicatedjob-name']}/${annotations?.['batch.kubernetes.io/job-completion-index']}`;
}

function specOf(...stages: readonly number[]): JobSetSpec {
  return {
    replicatedJobs: stages.map((pods, index) => replicatedJob(`w${index}`, pods)),
    failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: BUDGET },
  };
}

function moved(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  return [...before].filter(([slot, uid]) => after.get(slot) !== uid).map(([slot]) => slot);
}

let world: World;
afterEach(() => world.group.stop());

describe('256 members', () => {
  const SIZE = 256;

  async function begin(annotations: StringMap, fault: Fault): Promise<ReadonlyMap<string, string>> {
    world = new World();
    await world.begin(specOf(SIZE), annotations, SIZE + 4);
    await world.group.allIn(1, SIZE);
    const before = await world.places();
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
      const nodes = await nodesOf(['w0/17', 'w0/200']);
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
      expect(moved(before, await world.places()).toSorted()).toEqual(['w0/17', 'w0/200']);
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
      expect(moved(before, await world.places())).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

async function nodesOf(slots: readonly string[]): Promise<readonly string[]> {
  const { items } = await world.group.cluster.client.list(PODS, { namespace: 'default' });
  return slots.map((slot) => items.find((pod) => slotOf(pod) === slot)?.spec.nodeName ?? '');
}

describe('a member whose preflight does not pass', () => {
  const UNFIT: Evidence = { ...KILLED, unfit: 'no GPU' };

  it.each([
    ['over the hub', []],
    ['over the API server', ['w0/1']],
  ])('leaves its node at once, told %s', async (_, overApi) => {
    world = new World();
    for (const slot of overApi) world.overApi.add(slot);
    await world.begin(specOf(3), PREFLIGHT, 5);
    await world.group.allIn(1, 3);
    const before = await world.places();
    const [bad] = await nodesOf(['w0/1']);
    world.tell('w0/1', UNFIT);
    await world.until(({ syncedEpoch }) => syncedEpoch === 2);
    await world.group.allIn(2, 3);
    const { avoidedNodes, inPlaceRestarts } = await world.status();
    expect(avoidedNodes).toMatchObject([
      { node: bad, reason: 'its preflight did not pass: no GPU' },
    ]);
    expect(inPlaceRestarts).toBe(1);
    expect(moved(before, await world.places())).toEqual(['w0/1']);
  });

  it('leaves it once, whichever write or deletion the operator dies at', async () => {
    const live = async (diesAt: number | undefined, diesBefore: boolean) => {
      world = new World();
      let isDead = false;
      let hasDied = false;
      await world.begin(specOf(2), PREFLIGHT, 4);
      await world.group.allIn(1, 2);
      const before = await world.places();
      await world.group.startOperator((client) => {
        client.diesAt = diesAt;
        client.diesBefore = diesBefore;
        client.onDeath = () => {
          isDead = true;
        };
      });
      const first = world.group.operatorClient;
      world.tell('w0/1', UNFIT);
      for (let second = 0; second < 3; second++) {
        await world.group.cluster.clock.advance(1000);
        if (isDead) await world.group.startOperator();
        hasDied ||= isDead;
        isDead = false;
      }
      await world.until(({ syncedEpoch }) => syncedEpoch === 2);
      await world.group.allIn(2, 2);
      const { avoidedNodes = [], deprecatedEpoch, inPlaceRestarts } = await world.status();
      const writes = first.writes.map(({ what }) => what);
      const result = {
        nodes: avoidedNodes.length,
        deprecatedEpoch,
        inPlaceRestarts,
        moved: moved(before, await world.places()),
      };
      return { writes, hasDied, result };
    };
    const undisturbed = await live(undefined, false);
    expect(undisturbed.writes).toContain('delete pods');
    const expected = { nodes: 1, deprecatedEpoch: 1, inPlaceRestarts: 1, moved: ['w0/1'] };
    expect(undisturbed.result).toEqual(expected);
    const last = undisturbed.writes.lastIndexOf('delete pods') + 1;
    // Before that, it only finds what is there already.
    const first = undisturbed.writes.indexOf('update jobsets/status');
    for (let diesAt = first; diesAt <= last; diesAt++) {
      for (const diesBefore of [true, false]) {
        await world.group.stop();
        const when = `${diesBefore ? 'before' : 'after'} ${diesAt}: ${undisturbed.writes[diesAt]}`;
        const { hasDied, result } = await live(diesAt, diesBefore);
        expect([hasDied, result], when).toEqual([true, expected]);
      }
    }
  });

  it('leaves it in a group that starts in order', async () => {
    world = new World();
    const spec = { ...specOf(1, 2), startupPolicy: { startupPolicyOrder: 'InOrder' } } as const;
    await world.begin(spec, PREFLIGHT, 6);
    await world.group.allIn(1, 3);
    const before = await world.places();
    world.tell('w1/0', UNFIT);
    await world.until(({ syncedEpoch }) => syncedEpoch === 2);
    await world.group.allIn(2, 3);
    expect(moved(before, await world.places())).toEqual(['w1/0']);
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
