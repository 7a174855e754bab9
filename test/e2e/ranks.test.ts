/** Agents that start several processes in each Pod: numbers, a restart in place, evidence, and logs. */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { until } from '@lockstep/kube/until.fixture.ts';
import { expect, it } from 'vitest';
import type { WorkerGroup } from '../../src/bench/worker-group.ts';
import { LOG_PREFIX } from '../../src/jobset/names.ts';
import { LOCKSTEP } from './local-cluster.fixture.ts';
import { workerGroups } from './worker-groups.fixture.ts';

const SIZE = 2;
const PROCESSES = 4;
const RANKS = [0, 1, 2, 3, 4, 5, 6, 7];

const groups = workerGroups();

function environmentOf(pid: number): Readonly<Record<string, string>> {
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  return Object.fromEntries(
    entries.map((entry) => [entry.replace(/=.*$/s, ''), entry.replace(/^[^=]*=/, '')]),
  );
}

/** The ranks that started in an epoch, in their order. */
function startsOf(of: WorkerGroup, epoch: number): readonly number[] {
  const starts = of.starts().slice((epoch - 1) * RANKS.length, epoch * RANKS.length);
  return starts.map(({ rank }) => rank).toSorted((a, b) => a - b);
}

function identities(of: WorkerGroup): readonly string[] {
  return of.livePods().map(({ metadata, status }) => `${metadata.uid} ${status?.podIP}`);
}

async function logs(name: string, ...args: readonly string[]): Promise<string> {
  const argv = [LOCKSTEP, 'logs', name, ...args, '--kubeconfig', groups.cluster.kubeconfig];
  return (await promisify(execFile)(process.execPath, argv)).stdout;
}

it('restart in place as one group, and say which rank died', async () => {
  const of = await groups.start({
    name: 'ranks',
    size: SIZE,
    mode: 'Supervisor',
    processes: PROCESSES,
  });
  await of.running(1);
  expect(of.status.ranks).toMatchObject({ world: RANKS.length, groups: SIZE });
  expect(startsOf(of, 1)).toEqual(RANKS);
  const before = identities(of);
  for (const rank of RANKS) {
    expect(environmentOf(of.pid(rank))).toMatchObject({
      RANK: String(rank),
      WORLD_SIZE: '8',
      LOCAL_RANK: String(rank % PROCESSES),
      LOCAL_WORLD_SIZE: '4',
      GROUP_RANK: String(Math.floor(rank / PROCESSES)),
      MASTER_ADDR: of.status.ranks?.master,
      LOCKSTEP_PROCESSES: '4',
    });
  }

  of.kill(6);
  await of.running(2);
  expect(startsOf(of, 2)).toEqual(RANKS);
  expect(identities(of)).toEqual(before);
  expect(of.starts()).toHaveLength(2 * RANKS.length);
  expect(of.status.restartHistory?.[0]?.suspects).toMatchObject([{ process: 2, rank: 6 }]);

  const all = await logs('ranks', '--epoch', '1');
  for (const rank of RANKS) expect(all).toContain(`] [${rank}] rank ${rank} runs\n`);
  // Pods that run keep their prefixes.
  await groups.patch(of, { metadata: { annotations: { [LOG_PREFIX]: 'Off' } } });
  await until('the lines of one process are there', async () => {
    expect(await logs('ranks', '--process', '6')).toBe('[1] [6] rank 6 runs\n'.repeat(2));
  });
});

it('continue in their warm standbys, all together', async () => {
  const of = await groups.start({
    name: 'warm-ranks',
    size: SIZE,
    mode: 'Supervisor',
    processes: PROCESSES,
    hasStandby: true,
  });
  await of.running(1);
  await until('all standbys wait', async () => {
    const said = await logs('warm-ranks', '--agent');
    expect(said.split('a standby waits for the next epoch')).toHaveLength(SIZE + 1);
  });
  of.kill(5);
  await of.running(2);
  expect(startsOf(of, 2)).toEqual(RANKS);
  for (const rank of RANKS) {
    const known = { RANK: String(rank), WORLD_SIZE: '8', LOCKSTEP_STANDBY: '1' };
    expect(environmentOf(of.pid(rank))).toMatchObject(known);
  }
});

it('have no process to choose where their lines carry no rank', async () => {
  const annotations = { [LOG_PREFIX]: 'Off' };
  const of = await groups.start({
    name: 'no-prefix',
    size: 1,
    mode: 'Supervisor',
    processes: 2,
    annotations,
  });
  await of.running(1);
  await until('its lines are there', async () =>
    expect(await logs('no-prefix')).toContain('[0] rank 1 runs\n'),
  );
  await expect(logs('no-prefix', '--process', '1')).rejects.toThrow(
    /--process: lockstep\/log-prefix is Off, so no line says which process wrote it/,
  );
});

it('have no process to choose where they start one', async () => {
  const of = await groups.start({ name: 'no-ranks', size: 1, mode: 'Supervisor' });
  await of.running(1);
  await expect(logs('no-ranks', '--process', '0')).rejects.toThrow(
    /--process: the JobSet has no lockstep\/processes-per-pod; choose a member with --rank/,
  );
});
