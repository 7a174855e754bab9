/**
 * A group that failed for good keeps its Pods and logs for as long as its JobSet asks, with no
 * worker running; and a group restarts once when its user asks.
 */
import { expect, it } from 'vitest';
import type { WorkerGroup, WorkerGroupOptions } from '../../src/bench/worker-group.ts';
import { KEEP_FAILED, RESTART_EPOCH } from '../../src/jobset/names.ts';
import { AGENT_MODES } from '../kubernetes.ts';
import { hasKubectl, kubectlOutput } from './kubectl.fixture.ts';
import { workerGroups } from './worker-groups.fixture.ts';

const SIZE = 3;

const groups = workerGroups();

async function startGroup(
  name: string,
  options: Pick<WorkerGroupOptions, 'mode' | 'maxRestarts' | 'annotations'>,
): Promise<WorkerGroup> {
  const group = await groups.start({ name, size: SIZE, ...options });
  await group.running(1);
  return group;
}

async function annotate(of: WorkerGroup, key: string, value: string): Promise<void> {
  await groups.patch(of, { metadata: { annotations: { [key]: value } } });
}

function uidsOf(of: WorkerGroup): readonly string[] {
  return of.livePods().map(({ metadata }) => metadata.uid);
}

it.skipIf(!hasKubectl()).each(AGENT_MODES)(
  'a group in %s mode that failed for good keeps its logs, and no worker runs',
  async (mode) => {
    const of = await startGroup(`kept-${mode.toLowerCase()}`, {
      mode,
      maxRestarts: 0,
      annotations: { [KEEP_FAILED]: '1h' },
    });
    const before = uidsOf(of);

    of.kill(1);
    await of.until('it has failed', () => of.status.terminalState === 'Failed');
    expect(of.status).toMatchObject({ deprecatedEpoch: 1, syncedEpoch: 1 });
    await of.until('the others have stopped', () => of.marks().length === 2 * SIZE - 1);

    // In Sidecar mode the node restarts all containers, and the workers stay behind the barrier.
    await of.until('no worker is started', () =>
      of.livePods().every(({ status }) => {
        const [worker] = status?.containerStatuses ?? [];
        return mode === 'Supervisor' || worker?.state?.waiting !== undefined;
      }),
    );
    expect(uidsOf(of)).toEqual(before);
    for (const [rank, { metadata }] of of.livePods().entries()) {
      const args = ['logs', metadata.name, '-c', 'worker'];
      expect(await kubectlOutput(groups.cluster.kubeconfig, ...args)).toContain(
        `rank ${rank} runs`,
      );
    }

    await annotate(of, KEEP_FAILED, '1s');
    await of.until('all Pods are gone', () => [...of.pods.store.values()].length === 0);
    expect(of.starts()).toHaveLength(SIZE);
    expect(of.status).toMatchObject({ terminalState: 'Failed', deprecatedEpoch: 1 });
  },
);

it.each(AGENT_MODES)('a group in %s mode restarts once for a request, uncharged', async (mode) => {
  const of = await startGroup(`asked-${mode.toLowerCase()}`, { mode });
  const before = uidsOf(of);

  await annotate(of, RESTART_EPOCH, '1');
  await of.running(2);
  expect(uidsOf(of)).toEqual(before);
  expect(of.status).toMatchObject({ inPlaceRestarts: 0, inPlaceRestartsCountTowardsMax: 0 });

  // The request still stands, and a failure of the next epoch is charged as always.
  of.kill(1);
  await of.running(3);
  expect(of.status.restartHistory).toMatchObject([
    { epoch: 2, cause: 'WorkerFailed', counted: true },
    { epoch: 1, cause: 'Resumed', counted: false },
  ]);
  expect(of.starts()).toHaveLength(3 * SIZE);
});
