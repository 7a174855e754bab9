/**
 * The in-place property with real processes (`docs/design/protocol.md#one-restart`): after any
 * failure the same Pods continue with one new process per worker, in one new epoch, and no worker
 * starts before all old workers ended.
 */

import { NODES } from '@lockstep/kube/objects/node.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { type Mode, rankOf, type WorkerGroup } from '../../src/bench/worker-group.ts';
import { EPOCH } from '../../src/jobset/names.ts';
import { AGENT_MODES } from '../kubernetes.ts';
import { workerGroups } from './worker-groups.fixture.ts';

const SIZE = 3;

const groups = workerGroups();

async function startGroup(mode: Mode, name: string): Promise<WorkerGroup> {
  const group = await groups.start({
    name: `${name}-${mode.toLowerCase()}`,
    size: SIZE,
    mode,
  });
  await group.running(1);
  return group;
}

function identities(of: WorkerGroup): readonly string[] {
  return of
    .livePods()
    .map((pod) => `${pod.metadata.name} ${pod.metadata.uid} ${pod.status?.podIP}`);
}

/**
 * Between the starts of one epoch and of the next, every worker that was not killed ended.
 */
function expectNoEarlyStart(of: WorkerGroup, killed: readonly number[]): void {
  const marks = of.marks();
  const secondStart = marks.findIndex((mark, i) => mark.what === 'start' && i >= SIZE);
  const ended = marks.slice(0, secondStart).filter((mark) => mark.what === 'end');
  const survivors = Array.from({ length: SIZE }, (_, rank) => rank).filter(
    (rank) => !killed.includes(rank),
  );
  expect(ended.map((mark) => mark.rank).sort((a, b) => a - b)).toEqual(survivors);
}

function expectOneRestart(of: WorkerGroup): void {
  expect(of.status).toMatchObject({ inPlaceRestarts: 1, inPlaceRestartsCountTowardsMax: 1 });
  expect(of.status.restarts ?? 0).toBe(0);
  expect(of.starts()).toHaveLength(2 * SIZE);
  expect(new Set(of.starts().map((mark) => mark.pid)).size).toBe(2 * SIZE);
}

describe.each<Mode>(AGENT_MODES)('a group in %s mode restarts in place', (mode) => {
  it('when a worker dies in mid-run', async () => {
    const of = await startGroup(mode, 'mid-run');
    const before = identities(of);

    of.kill(1);
    await of.running(2);

    expect(identities(of)).toEqual(before);
    expectOneRestart(of);
    expectNoEarlyStart(of, [1]);
    // All agents used the hub: none had to fall back to the API server.
    expect(of.livePods().filter(({ metadata }) => metadata.annotations?.[EPOCH])).toEqual([]);
    const witness = of.status.restartHistory?.[0]?.witness;
    const pod = of.livePods()[1]?.metadata.name;
    expect(witness).toMatchObject({ pod, container: 'worker', signal: 'SIGKILL' });
  });

  it('once, when several workers die at a time', async () => {
    const of = await startGroup(mode, 'several');
    const before = identities(of);

    of.kill(0, 2);
    await of.running(2);

    expect(identities(of)).toEqual(before);
    expectOneRestart(of);
    expectNoEarlyStart(of, [0, 2]);
  });

  it('again, when a worker dies at the instant of its release', async () => {
    const of = await startGroup(mode, 'release');
    const before = identities(of);

    of.kill(1);
    await of.until('a worker of epoch 2 started', () => of.starts().length > SIZE);
    const early = of.starts().at(-1)?.rank ?? 0;
    of.kill(early);
    await of.running(3, 2 * SIZE + 1);
    await of.until('every rank runs in epoch 3', () =>
      [0, 1, 2].every((rank) => isAlive(of.pid(rank))),
    );

    expect(identities(of)).toEqual(before);
    expect(of.status).toMatchObject({ inPlaceRestarts: 2, deprecatedEpoch: 2, syncedEpoch: 3 });
  });
});

// A Job replaces a lost Pod after 10 s, and after 20 s the second time, so one run per mode is
// enough.
describe('a group that loses a Pod restarts in place', () => {
  it('with one new Pod, when a Pod is deleted by hand', async () => {
    const of = await startGroup(AGENT_MODES[0], 'deleted');
    const before = of.livePods();

    await groups.cluster.client.delete(PODS, {
      namespace: 'default',
      name: before[1]?.metadata.name ?? '',
    });
    await of.running(2);

    const uids = of.livePods().map((pod) => pod.metadata.uid);
    expect(uids[0]).toBe(before[0]?.metadata.uid);
    expect(uids[1]).not.toBe(before[1]?.metadata.uid);
    expect(uids[2]).toBe(before[2]?.metadata.uid);
    expect(of.status).toMatchObject({ inPlaceRestarts: 1 });
  });

  it('once, when another Pod is lost while the group waits at the barrier', async () => {
    const of = await startGroup('Supervisor', 'barrier');
    await cordon(true);
    try {
      // Its replacement finds no node, so the others wait at the barrier for as long as we like.
      await deletePod(of, 0);
      of.kill(1);
      await of.until('the rest waits at the barrier', () => waitsFor(of, 2));
      await deletePod(of, 2);
      expect(of.status).toMatchObject({ deprecatedEpoch: 1, syncedEpoch: 1 });
    } finally {
      await cordon(false);
    }
    await of.running(2);
    expect(of.status).toMatchObject({ inPlaceRestarts: 1, deprecatedEpoch: 1 });
  });
});

/** The epoch before has ended, and all workers that it left alive have ended too. */
function waitsFor(of: WorkerGroup, epoch: number): boolean {
  return of.status.deprecatedEpoch === epoch - 1 && !of.starts().some(({ pid }) => isAlive(pid));
}

/** Deletes the Pod of a rank and waits until it has been replaced. */
async function deletePod(of: WorkerGroup, rank: number): Promise<void> {
  const current = (): string | undefined =>
    of.livePods().find((pod) => rankOf(pod) === rank)?.metadata.name;
  const name = current() ?? '';
  await groups.cluster.client.delete(PODS, { namespace: 'default', name });
  await of.until(`${name} is replaced`, () => ![name, undefined].includes(current()));
}

async function cordon(unschedulable: boolean): Promise<void> {
  const { client } = groups.cluster;
  const { items } = await client.list(NODES);
  const patch = { type: 'merge', patch: { spec: { unschedulable } } } as const;
  for (const { metadata } of items) await client.patch(NODES, { name: metadata.name }, patch);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
