/** Agents that start several processes in each Pod, below a real kubelet: restarts, culprits, logs, standbys. */
import { until } from '@lockstep/kube/until.fixture.ts';
import { expect, it } from 'vitest';
import {
  PROGRESS_TIMEOUT,
  RESTART_BACKOFF,
  RESTART_MODE,
  STANDBY,
} from '../../src/jobset/names.ts';
import { lockstepFromOutside, type MachineProcess, NAMESPACE } from './node.ts';
import { linesOf, type NodeGroup, nodeGroups, PATIENCE_MS } from './node-group.fixture.ts';

const SIZE = 2;
const PROCESSES = 4;
const RANKS = Array.from({ length: SIZE * PROCESSES }, (_, rank) => rank);
const VICTIM = 6;
const SUPERVISOR = { [RESTART_MODE]: 'Supervisor', [RESTART_BACKOFF]: 'Disabled' };
const STEPS =
  'i=0; while :; do i=$((i+1)); echo $i >> $LOCKSTEP_PROGRESS_FILE; sleep 1 & wait $!; done';
/** As the guide on warm standbys has it. */
const PREPARE =
  'if [ -n "$LOCKSTEP_START_FILE" ]; then echo phase=standby >> $LOCKSTEP_PROGRESS_FILE; ' +
  'until [ -e "$LOCKSTEP_START_FILE" ]; do sleep 0.05; done; fi;';
const WAITS = 'a standby waits for the next epoch';

const groups = nodeGroups();

/** The processes that run as a rank, the oldest first. A standby has no number before it begins. */
async function processesOf(group: NodeGroup, rank: number): Promise<readonly MachineProcess[]> {
  const pod = Math.floor(rank / PROCESSES);
  return (await group.workers(pod)).filter(({ environment }) =>
    environment.includes(`LOCAL_RANK=${rank % PROCESSES}`),
  );
}

async function signal(group: NodeGroup, rank: number, name: NodeJS.Signals): Promise<number> {
  const [worker] = await processesOf(group, rank);
  if (worker === undefined) throw new Error(`rank ${rank} has no process`);
  const at = Date.now();
  process.kill(worker.pid, name);
  return at;
}

/** The group has restarted once, in its Pods, and names the victim. */
async function expectNamed(group: NodeGroup, uids: readonly string[], how: object): Promise<void> {
  await group.running(2);
  expect(await group.uids()).toEqual(uids);
  expect((await group.restartCounts()).filter((count) => count !== 0)).toEqual([]);
  const { inPlaceRestartsCountTowardsMax, restartHistory } = await group.status();
  expect(inPlaceRestartsCountTowardsMax).toBe(1);
  expect(restartHistory?.[0]?.suspects).toMatchObject([
    { rank: VICTIM, process: VICTIM % PROCESSES, ...how },
  ]);
}

it('ranks restart in place together, and the one that died is named', async () => {
  const group = await groups.start({
    name: 'ranks',
    size: SIZE,
    processes: PROCESSES,
    annotations: SUPERVISOR,
  });
  await group.running(1);
  expect((await group.status()).ranks).toMatchObject({ world: RANKS.length, groups: SIZE });
  const uids = await group.uids();
  const killedAt = await signal(group, VICTIM, 'SIGSEGV');
  await expectNamed(group, uids, { confidence: 'Certain' });
  process.stdout.write(
    `${SIZE} Pods of ${PROCESSES} ranks: restart took ${(await group.running(2)) - killedAt} ms\n`,
  );
  const at = ['ranks', '-n', NAMESPACE];
  expect(await lockstepFromOutside('report', ...at)).toContain(
    `rank ${VICTIM} (process 2) of worker 1`,
  );
  const log = await lockstepFromOutside('logs', ...at, '--process', String(VICTIM));
  expect(log).toBe(`[1] [${VICTIM}] START\n`.repeat(2));
});

it('a rank that is stopped is found', async () => {
  const group = await groups.start({
    name: 'stopped-rank',
    size: SIZE,
    processes: PROCESSES,
    script: STEPS,
    annotations: { ...SUPERVISOR, [PROGRESS_TIMEOUT]: '10s' },
  });
  await group.running(1);
  const uids = await group.uids();
  await signal(group, VICTIM, 'SIGSTOP');
  await expectNamed(group, uids, { confidence: 'Certain' });
});

it('a rank that takes all memory is named', async () => {
  const group = await groups.start({
    name: 'greedy-rank',
    size: SIZE,
    processes: PROCESSES,
    script: `trap 'x=aaaaaaaa; while :; do x=$x$x; done' USR1; ${STEPS}`,
    annotations: SUPERVISOR,
    container: { resources: { limits: { memory: '512Mi' } } },
  });
  await group.running(1);
  await signal(group, VICTIM, 'SIGUSR1');
  await group.running(2);
  const [record] = (await group.status()).restartHistory ?? [];
  expect(record).toMatchObject({ suspects: [{ rank: VICTIM, confidence: 'Certain' }] });
});

it('all ranks continue in their warm standbys', async () => {
  const group = await groups.start({
    name: 'warm-ranks',
    size: SIZE,
    processes: PROCESSES,
    prepare: PREPARE,
    script: STEPS,
    annotations: { ...SUPERVISOR, [STANDBY]: 'Warm' },
  });
  await group.running(1);
  await until(
    'all standbys wait',
    async () => {
      const pods = await group.pods();
      const waiting = pods.filter((pod) => linesOf(pod).some(({ text }) => text.includes(WAITS)));
      expect(waiting).toHaveLength(SIZE);
    },
    PATIENCE_MS,
  );
  const standbys = await Promise.all(
    RANKS.map(async (rank) => (await processesOf(group, rank))[1]?.pid),
  );
  await signal(group, VICTIM, 'SIGKILL');
  await group.running(2);
  const workers = await Promise.all(
    RANKS.map(async (rank) => (await processesOf(group, rank))[0]?.pid),
  );
  expect(workers).toEqual(standbys);
});
