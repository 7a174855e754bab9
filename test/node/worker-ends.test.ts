/** How workers end on a real node, and what of it users read: hangs, last words, no memory, killed agents. */
import { until } from '@lockstep/kube/until.fixture.ts';
import { expect, it } from 'vitest';
import {
  HANG_COMMAND,
  KEEP_FAILED,
  PREFLIGHT,
  PROGRESS_TIMEOUT,
  RESTART_BACKOFF,
  RESTART_MODE,
} from '../../src/jobset/names.ts';
import { CGROUPS, hierarchies } from '../../tools/node/cgroups.ts';
import { linesOf, type NodeGroup, nodeGroups, PATIENCE_MS } from './node-group.fixture.ts';

const SIZE = 4;
const VICTIM = 2;
const STEPS =
  'i=0; while :; do i=$((i+1)); echo $i >> $LOCKSTEP_PROGRESS_FILE; sleep 1 & wait $!; done';
/** Takes memory without end at SIGUSR1. */
const GREEDY = `trap 'x=aaaaaaaa; while :; do x=$x$x; done' USR1; ${STEPS}`;
const SUPERVISOR = { [RESTART_MODE]: 'Supervisor', [RESTART_BACKOFF]: 'Disabled' };
const SIDECAR = { [RESTART_MODE]: 'Sidecar', [RESTART_BACKOFF]: 'Disabled' };

const groups = nodeGroups();

/** The group has restarted once, in its Pods, because of the victim. */
async function expectRestart(group: NodeGroup, uids: readonly string[]) {
  await group.running(2);
  expect(await group.uids()).toEqual(uids);
  const status = await group.status();
  expect(status).toMatchObject({ inPlaceRestarts: 1, inPlaceRestartsCountTowardsMax: 1 });
  const pod = (await group.pods())[VICTIM]?.metadata.name;
  expect(status.restartHistory?.[0]?.witness).toMatchObject({ pod });
  return status.restartHistory?.[0];
}

it('a worker that hangs is found, named and replaced', async () => {
  const group = await groups.start({
    name: 'hang',
    size: SIZE,
    script: STEPS,
    annotations: { ...SUPERVISOR, [PROGRESS_TIMEOUT]: '10s', [HANG_COMMAND]: 'echo where=here' },
  });
  await group.running(1);
  const uids = await group.uids();
  await until('all have made a step', async () => {
    const pods = await group.pods();
    return pods.every((pod) => linesOf(pod).length > 0);
  });
  await group.kill(VICTIM, 'SIGSTOP');
  const record = await expectRestart(group, uids);
  expect(record?.witness?.reason).toBe('WorkerHung');
  const pod = (await group.pods())[VICTIM]?.metadata.name;
  expect(record?.suspects).toMatchObject([{ pod, confidence: 'Certain' }]);
});

it('the last words of a worker are kept', async () => {
  const group = await groups.start({
    name: 'words',
    size: SIZE,
    script: `trap 'echo "loss is NaN in shard 137" >&2; exit 3' USR1; ${STEPS}`,
    annotations: SUPERVISOR,
  });
  await group.running(1);
  const uids = await group.uids();
  await group.kill(VICTIM, 'SIGUSR1');
  const record = await expectRestart(group, uids);
  expect(record?.witness).toMatchObject({ exitCode: 3 });
  expect(record?.lastWords?.text).toContain('loss is NaN in shard 137');
});

it('a preflight runs where the worker failed, and there only', async () => {
  const group = await groups.start({
    name: 'preflight',
    size: SIZE,
    annotations: { ...SUPERVISOR, [PREFLIGHT]: 'echo the machine is fine' },
  });
  await group.running(1);
  const uids = await group.uids();
  await group.kill(VICTIM);
  await expectRestart(group, uids);
  const checked = (await group.pods()).map((pod) =>
    linesOf(pod).some(({ text }) => text.includes('the machine is fine')),
  );
  expect(checked).toEqual([false, false, true, false]);
});

/** With control groups of version 2, all processes of a container end with the one that took too much. */
const ENDS_WHOLE = hierarchies().includes(CGROUPS);
const FATE = ENDS_WHOLE ? 'ends with it' : 'survives';

it(`a worker that takes all memory restarts, and its supervisor ${FATE}`, async () => {
  const group = await groups.start({
    name: 'greedy',
    size: SIZE,
    script: GREEDY,
    annotations: SUPERVISOR,
    container: { resources: { limits: { memory: '256Mi' } } },
  });
  await group.running(1);
  const uids = await group.uids();
  const { pid } = await group.supervisor(VICTIM);
  await group.kill(VICTIM, 'SIGUSR1');
  const record = await expectRestart(group, uids);
  expect(record?.witness).toMatchObject(
    ENDS_WHOLE ? { reason: 'OOMKilled' } : { signal: 'SIGKILL' },
  );
  expect((await group.supervisor(VICTIM)).pid === pid).toBe(!ENDS_WHOLE);
});

it('a worker beside a sidecar that takes all memory counts as killed for it', async () => {
  const group = await groups.start({
    name: 'greedy-sidecar',
    size: SIZE,
    script: GREEDY,
    annotations: SIDECAR,
    container: { resources: { limits: { memory: '1100Mi' } } },
  });
  await group.running(1);
  const uids = await group.uids();
  await group.kill(VICTIM, 'SIGUSR1');
  const record = await expectRestart(group, uids);
  expect(record?.witness).toMatchObject({ reason: 'OOMKilled' });
});

it('a supervisor that is killed with its worker comes back in its Pod', async () => {
  const group = await groups.start({ name: 'killed', size: SIZE, annotations: SUPERVISOR });
  await group.running(1);
  const uids = await group.uids();
  const { pid } = await group.supervisor(VICTIM);
  process.kill(pid, 'SIGKILL');
  await expectRestart(group, uids);
});

it.each([SUPERVISOR, SIDECAR])(
  'a group that failed for good keeps its Pods, and their nodes keep the logs: %o',
  async (mode) => {
    const group = await groups.start({
      name: `failed-${mode[RESTART_MODE]?.toLowerCase()}`,
      size: SIZE,
      maxRestarts: 0,
      annotations: { ...mode, [KEEP_FAILED]: '1h' },
    });
    await group.running(1);
    const uids = await group.uids();
    await group.kill(VICTIM);
    await until(
      'it has failed and no worker runs',
      async () => {
        expect(await group.status()).toMatchObject({ terminalState: 'Failed' });
        for (let rank = 0; rank < SIZE; rank++) expect(await group.workers(rank)).toEqual([]);
      },
      PATIENCE_MS,
    );
    expect(await group.uids()).toEqual(uids);
    for (const pod of await group.pods()) {
      expect(linesOf(pod).map(({ text }) => text)).toContain('START');
    }
  },
);
