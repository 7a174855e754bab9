/**
 * Warm standbys of real processes through all that can happen to their group: a kill, a preemption,
 * the death of an agent, another size, a startup order, and the end.
 */

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MARKER_VARIABLE } from '@lockstep/embedded-kubernetes';
import type { Stored } from '@lockstep/kube/meta.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { expect, it } from 'vitest';
import type { Mark, WorkerGroup, WorkerGroupOptions } from '../../src/bench/worker-group.ts';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { ENV_EPOCH, ENV_STANDBY, JOB_GLOBAL_INDEX } from '../../src/jobset/names.ts';
import type { StatusView } from '../../src/jobset/view/status-view.ts';
import { KUBERNETES } from '../kubernetes.ts';
import { hasKubectl, kubectlOutput } from './kubectl.fixture.ts';
import { LOCKSTEP } from './local-cluster.fixture.ts';
import { workerGroups } from './worker-groups.fixture.ts';

const SIZE = 3;
const RANKS = [0, 1, 2];
/** How long an agent or a command may take to say something. */
const LIMIT_MS = 60_000;

const groups = workerGroups();

function createGroup(
  name: string,
  options: Partial<WorkerGroupOptions> = {},
): Promise<WorkerGroup> {
  return groups.start({ name, size: SIZE, mode: 'Supervisor', hasStandby: true, ...options });
}

async function startGroup(
  name: string,
  options: Partial<WorkerGroupOptions> = {},
): Promise<WorkerGroup> {
  const group = await createGroup(name, options);
  await group.running(1);
  return group;
}

/** Each agent knows that its standby waits. Returns their processes. */
async function waiting(of: WorkerGroup, ranks = RANKS): Promise<readonly number[]> {
  const newest = ranks.map((rank) => of.pid(rank));
  const standbys = () =>
    ranks.flatMap((rank) => {
      const mark = of.marks().findLast((one) => one.what === 'ready' && one.rank === rank);
      return mark === undefined || newest.includes(mark.pid) ? [] : [mark.pid];
    });
  await of.until('all standbys wait', () => standbys().length === ranks.length);
  for (const pod of of.livePods()) {
    const says = async (): Promise<void> => {
      const log = await logOf(pod);
      const begins = log.lastIndexOf('"an epoch begins"');
      expect(log.slice(begins)).toContain('a standby waits for the next epoch');
    };
    await until('the agent says that a standby waits', says, LIMIT_MS);
  }
  return standbys();
}

function logOf({ metadata }: Stored<Pod>): Promise<string> {
  return kubectlOutput(groups.cluster.kubeconfig, 'logs', metadata.name);
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

/** Variables with which a process was started, as `NAME=value`; none if it has ended. */
function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** Whether a worker was a standby before; it was started for that epoch otherwise. */
function wasStandby(pid: number, epoch: number): boolean {
  const environment = environmentOf(pid);
  const isWarm = environment.includes(`${ENV_STANDBY}=1`);
  expect(environment.includes(`${ENV_EPOCH}=${epoch}`)).toBe(!isWarm);
  return isWarm;
}

/** Processes of all containers of a Pod, wherever they went. */
function processesOf({ metadata }: Stored<Pod>): readonly number[] {
  const mark = `${MARKER_VARIABLE}=${metadata.uid}/`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => environmentOf(pid).some((entry) => entry.startsWith(mark)));
}

/** Checks first that the Pods of all ranks have these processes. */
function podsWith(of: WorkerGroup, standbys: readonly number[]): readonly Stored<Pod>[] {
  const pods = of.livePods();
  expect(pods).toHaveLength(standbys.length);
  for (const [rank, pod] of pods.entries()) {
    const pair = [of.pid(rank), standbys[rank]];
    expect(processesOf(pod)).toEqual(expect.arrayContaining(pair));
  }
  return pods;
}

function gone(of: WorkerGroup, pods: readonly Stored<Pod>[]): Promise<void> {
  const uids = new Set(pods.map(({ metadata }) => metadata.uid));
  return of.until('the Pods are gone', () =>
    [...of.pods.store.values()].every(({ metadata }) => !uids.has(metadata.uid)),
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

it.skipIf(!hasKubectl() || KUBERNETES !== undefined)(
  'members that stay restart into their standbys when the group grows and shrinks',
  async () => {
    const stay = [0, 1];
    const of = await startGroup('elastic', { size: stay.length });
    const resize = (size: number) => {
      const path = '/spec/replicatedJobs/0/template/spec';
      const operations = ['parallelism', 'completions'].map(
        (field) => ({ op: 'replace', path: `${path}/${field}`, value: size }) as const,
      );
      const at = { namespace: 'default', name: of.name };
      return groups.cluster.client.patch(JOBSETS, at, { type: 'json', operations });
    };
    const small = await waiting(of, stay);
    await resize(3);
    await of.running(2, 2 + 3);
    expect(stay.map((rank) => of.pid(rank))).toEqual(small);
    expect(RANKS.map((rank) => wasStandby(of.pid(rank), 2))).toEqual([true, true, false]);

    const large = await waiting(of);
    const leaves = podsWith(of, large).slice(2);
    await resize(2);
    await of.running(3, 2 + 3 + 2);
    expect(stay.map((rank) => of.pid(rank))).toEqual(large.slice(0, 2));
    await gone(of, leaves);
    expect(leaves.flatMap(processesOf)).toEqual([]);
    expect(of.status.inPlaceRestartsCountTowardsMax ?? 0).toBe(0);

    const pods = podsWith(of, await waiting(of, stay));
    await groups.remove();
    expect(pods.flatMap(processesOf)).toEqual([]);
  },
);

/** Two ReplicatedJobs of one member. The second starts when the first is ready: has the file. */
function inStages(jobSet: JobSet, file: string): JobSet {
  const text = JSON.stringify(jobSet.spec.replicatedJobs?.[0])
    .replace(/metadata\.annotations\['[^']*'\]/, `metadata.labels['${JOB_GLOBAL_INDEX}']`)
    .replace(/"(parallelism|completions)":\d+/g, '"$1":1');
  const second = { ...JSON.parse(text), name: 'second' };
  const first = { ...JSON.parse(text), name: 'first' };
  first.template.spec.template.spec.containers[0].readinessProbe = {
    exec: { command: ['test', '-e', file] },
    periodSeconds: 1,
    failureThreshold: 1,
  };
  second.dependsOn = [{ name: 'first', status: 'Ready' }];
  return { ...jobSet, spec: { ...jobSet.spec, replicatedJobs: [first, second] } };
}

it.skipIf(!hasKubectl() || KUBERNETES !== undefined)(
  'standbys of a stage wait until the stage is released',
  async () => {
    const file = join(groups.cluster.shared, 'first-is-ready');
    const of = await createGroup('stages', { size: 2, edit: (one) => inStages(one, file) });
    const first = () => of.status.replicatedJobsStatus?.find(({ name }) => name === 'first');
    const startsOf = (rank: number) => of.starts().filter((start) => start.rank === rank);
    const firstRuns = (epoch: number) =>
      of.until(`the first stage runs in epoch ${epoch}`, () => {
        return first()?.syncedEpoch === epoch && startsOf(0).length === epoch;
      });

    await firstRuns(1);
    const standbys = await waiting(of, [0]);
    of.kill(0);
    await firstRuns(2);
    expect(of.pid(0)).toBe(standbys[0]);
    await waiting(of, [0]);
    expect(startsOf(1)).toEqual([]);
    writeFileSync(file, '');
    await of.running(2, 3);
    expect([0, 1].map((rank) => wasStandby(of.pid(rank), 2))).toEqual([true, false]);

    const both = await waiting(of, [0, 1]);
    rmSync(file);
    await of.until('the first stage is not ready', () => first()?.ready === 0);
    of.kill(1);
    await firstRuns(3);
    const second = of.livePods().find(({ metadata }) => metadata.name.includes('-second-'));
    if (second === undefined) throw new Error('the second stage has no Pod');
    const isAtBarrier = async (): Promise<void> =>
      expect(await logOf(second)).toMatch(/"epoch":3,.*"announces an epoch"/);
    await until('it is at the barrier', isAtBarrier, LIMIT_MS);
    await waiting(of, [0]);
    expect(startsOf(1)).toHaveLength(1);
    expect(isAlive(both[1] ?? 0)).toBe(true);
    writeFileSync(file, '');
    await of.running(3, 5);
    expect([0, 1].map((rank) => of.pid(rank))).toEqual(both);
  },
);

it.skipIf(!hasKubectl() || KUBERNETES !== undefined)(
  'a Pod that is deleted leaves neither worker nor standby, nor does a JobSet at its barrier',
  async () => {
    const of = await startGroup('deleted');
    const standbys = await waiting(of);
    const pods = podsWith(of, standbys);
    const lost = pods.slice(1, 2);
    const at = { namespace: 'default', name: lost[0]?.metadata.name ?? '' };
    await groups.cluster.client.delete(PODS, at);
    await gone(of, lost);
    expect(lost.flatMap(processesOf)).toEqual([]);

    // A Job replaces a lost Pod after 10 s. The group waits for it at the barrier.
    const workers = [of.pid(0), of.pid(2)];
    of.kill(0);
    await of.until('the other workers have ended', () => !workers.some(isAlive));
    expect([0, 2].map((rank) => isAlive(standbys[rank] ?? 0))).toEqual([true, true]);
    await groups.remove();
    expect(pods.flatMap(processesOf)).toEqual([]);
  },
);

/** A standby exits with 7 as long as the file is there. */
function crashing(jobSet: JobSet, file: string): JobSet {
  const edited = structuredClone(jobSet);
  const [container] = edited.spec.replicatedJobs?.[0]?.template.spec.template.spec.containers ?? [];
  const [shell = '', flag = '', script = ''] = container?.command ?? [];
  const first = `[ -n "$LOCKSTEP_STANDBY" ] && [ -e ${file} ] && exit 7; `;
  if (container !== undefined) Object.assign(container, { command: [shell, flag, first + script] });
  return edited;
}

it.skipIf(!hasKubectl() || KUBERNETES !== undefined)(
  'standbys that crash are shown by status, until the group has restarted',
  async () => {
    const file = join(groups.cluster.shared, 'standbys-crash');
    writeFileSync(file, '');
    const of = await startGroup('crash', { size: 1, edit: (one) => crashing(one, file) });
    const status = async (...args: readonly string[]): Promise<string> => {
      const argv = [LOCKSTEP, 'status', of.name, ...args];
      const flags = ['--kubeconfig', groups.cluster.kubeconfig];
      return (await promisify(execFile)(process.execPath, [...argv, ...flags])).stdout;
    };
    const deaths =
      /standbys that failed: worker 0 \(died \d+ times since the release, last: exited with code 7\)/;
    const shows = async (): Promise<void> => expect(await status()).toMatch(deaths);
    await until('the deaths are shown', shows, LIMIT_MS);
    const { members } = JSON.parse(await status('-o', 'json')) as StatusView;
    expect(members.map(({ progress }) => progress?.standbyDeaths?.last)).toEqual([{ exitCode: 7 }]);

    rmSync(file);
    of.kill(0);
    await of.running(2);
    await waiting(of, [0]);
    const isReady = async (): Promise<void> =>
      expect(await status()).toContain('standbys: 1 of 1 ready');
    await until('the standby is ready', isReady, LIMIT_MS);
    expect(await status()).not.toContain('standbys that failed');
  },
);

it.skipIf(!hasKubectl() || KUBERNETES !== undefined)(
  'a group completes while standbys wait, and none of them runs',
  async () => {
    const of = await startGroup('completes', { onStop: 'exit 0' });
    const pods = podsWith(of, await waiting(of));
    of.signal('SIGTERM', ...RANKS);
    await of.until('it is complete', () => of.status.terminalState === 'Completed');
    expect(of.starts()).toHaveLength(SIZE);
    expect(pods.flatMap(processesOf)).toEqual([]);
  },
);
