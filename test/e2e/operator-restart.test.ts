/** The operator of a local cluster is killed: it comes back, and nothing else ends. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WorkerGroup } from '../../src/bench/worker-group.ts';
import { EPOCH } from '../../src/jobset/names.ts';
import { type ClusterUnderTest, startCluster } from './local-cluster.fixture.ts';

const SIZE = 3;

let cluster: ClusterUnderTest;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

/** Process IDs of all operators that were started, in order. */
function operators(): readonly number[] {
  const lines = cluster
    .logs()
    .split('\n')
    .filter((line) => line.includes('the operator was started'));
  return lines.map((line) => (JSON.parse(line) as { readonly operator: number }).operator);
}

it('workers run on without it, and those that fail restart once it is back', async () => {
  const { client, shared } = cluster;
  const start = { client, directory: shared, size: SIZE, mode: 'Supervisor' } as const;
  const group = await WorkerGroup.start({ ...start, name: 'orphaned' });
  await group.running(1);
  const pods = group.livePods().map(({ metadata }) => metadata.uid);

  process.kill(operators()[0] ?? 0, 'SIGKILL');
  group.kill(1);
  await group.running(2);

  expect(operators()).toHaveLength(2);
  expect(group.livePods().map(({ metadata }) => metadata.uid)).toEqual(pods);
  expect(group.starts()).toHaveLength(2 * SIZE);
  expect(group.status).toMatchObject({ inPlaceRestarts: 1, inPlaceRestartsCountTowardsMax: 1 });
  // The next operator is at the same address: no agent had to ask the API server.
  expect(group.livePods().filter(({ metadata }) => metadata.annotations?.[EPOCH])).toEqual([]);
  await group.remove();

  // Its webhooks are back as well.
  const next = await WorkerGroup.start({ ...start, name: 'next' });
  await next.running(1);
  await next.remove();
});
