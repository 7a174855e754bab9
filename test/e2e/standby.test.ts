/** Warm standbys of real processes through a kill, a preemption, and the death of an agent. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Mark, WorkerGroup } from '../../src/bench/worker-group.ts';
import { KUBERNETES } from '../kubernetes.ts';
import { hasKubectl, kubectlOutput } from './kubectl.fixture.ts';
import { workerGroups } from './worker-groups.fixture.ts';

const SIZE = 3;
const RANKS = [0, 1, 2];

const groups = workerGroups();

async function startGroup(name: string): Promise<WorkerGroup> {
  const group = await groups.start({ name, size: SIZE, mode: 'Supervisor', hasStandby: true });
  await group.running(1);
  return group;
}

/** Each agent knows that its standby waits. Returns their processes. */
async function waiting(of: WorkerGroup): Promise<readonly number[]> {
  const newest = RANKS.map((rank) => of.pid(rank));
  const standbys = () =>
    RANKS.flatMap((rank) => {
      const mark = of.marks().findLast((one) => one.what === 'ready' && one.rank === rank);
      return mark === undefined || newest.includes(mark.pid) ? [] : [mark.pid];
    });
  await of.until('all standbys wait', () => standbys().length === SIZE);
  for (const pod of of.livePods()) {
    const said = async () => {
      const log = await kubectlOutput(groups.cluster.kubeconfig, 'logs', pod.metadata.name);
      const begins = log.lastIndexOf('"an epoch begins"');
      return log.slice(begins).includes('a standby waits for the next epoch');
    };
    await expect.poll(said, { timeout: 60_000, interval: 200 }).toBe(true);
  }
  return standbys();
}

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function parentOf(pid: number): number {
  return Number(
    readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')[1],
  );
}

function uidsOf(of: WorkerGroup): readonly string[] {
  return of.livePods().map(({ metadata }) => metadata.uid);
}

const pidsOf = (marks: readonly Mark[]): readonly number[] => marks.map(({ pid }) => pid);

it.skipIf(!hasKubectl() || KUBERNETES !== undefined)(
  'a group restarts into its standbys, and a suspended one leaves none behind',
  async () => {
    const of = await startGroup('warm');
    const before = uidsOf(of);
    let standbys = await waiting(of);
    for (const epoch of [2, 3]) {
      const old = RANKS.map((rank) => of.pid(rank));
      of.kill(1);
      await of.running(epoch);
      expect(RANKS.map((rank) => of.pid(rank))).toEqual(standbys);
      expect(old.filter(isAlive)).toEqual([]);
      standbys = await waiting(of);
    }
    expect(uidsOf(of)).toEqual(before);
    expect(of.status).toMatchObject({ inPlaceRestartsCountTowardsMax: 2 });

    await groups.patch(of, { spec: { suspend: true } });
    await of.until('all Pods are gone', () => [...of.pods.store.values()].length === 0);
    expect(pidsOf(of.marks()).filter(isAlive)).toEqual([]);
    await groups.patch(of, { spec: { suspend: false } });
    await of.running(4);
    expect(standbys).not.toContain(of.pid(0));
    await waiting(of);
  },
);

it.skipIf(!hasKubectl() || KUBERNETES !== undefined)(
  'an agent that is killed takes worker and standby with it',
  async () => {
    const of = await startGroup('orphans');
    const standbys = await waiting(of);
    const pair = [of.pid(0), standbys[0] ?? 0];
    expect(pair.filter(isAlive)).toEqual(pair);
    const agents = pair.map(parentOf);
    expect(agents[0]).toBe(agents[1]);

    process.kill(agents[0] ?? 0, 'SIGKILL');
    await of.running(2);
    expect(pair.filter(isAlive)).toEqual([]);
    // It runs in a container that is new; the others were promoted.
    expect(standbys).not.toContain(of.pid(0));
    expect([1, 2].map((rank) => of.pid(rank))).toEqual(standbys.slice(1));
  },
);
