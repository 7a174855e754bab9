/** Restarts in place on a real node: the same Pods continue, one failure is charged once, and no restart is slower. */
import { expect, it } from 'vitest';
import { RESTART_BACKOFF, RESTART_MODE } from '../../src/jobset/names.ts';
import { nodeGroups } from './node-group.fixture.ts';

const SIZE = 4;
const RESTARTS = 5;
/** A kubelet that backs off waits 10 s, 20 s, 40 s and 80 s for these restarts. */
const NO_BACKOFF_MS = 40_000;

const groups = nodeGroups();

it.each([
  { mode: 'Supervisor', restartsOfContainers: 0 },
  { mode: 'Sidecar', restartsOfContainers: RESTARTS },
])('a group in $mode mode keeps its Pods over restarts', async ({ mode, restartsOfContainers }) => {
  const group = await groups.start({
    name: `kept-${mode.toLowerCase()}`,
    size: SIZE,
    annotations: { [RESTART_MODE]: mode, [RESTART_BACKOFF]: 'Disabled' },
  });
  await group.running(1);
  const before = await group.uids();
  const times: number[] = [];
  for (let epoch = 2; epoch <= RESTARTS + 1; epoch++) {
    const rank = epoch % SIZE;
    const pod = (await group.pods())[rank];
    const killedAt = await group.kill(rank);
    times.push((await group.running(epoch)) - killedAt);
    const [newest] = (await group.status()).restartHistory ?? [];
    expect(newest).toMatchObject({ epoch: epoch - 1, cause: 'WorkerFailed', counted: true });
    expect(newest?.witness).toMatchObject({ pod: pod?.metadata.name, container: 'worker' });
  }
  process.stdout.write(`${mode}, ${SIZE} Pods: restarts took ${times.join(', ')} ms\n`);
  expect(await group.uids()).toEqual(before);
  const status = await group.status();
  expect(status).toMatchObject({
    inPlaceRestarts: RESTARTS,
    inPlaceRestartsCountTowardsMax: RESTARTS,
  });
  expect(status.restarts ?? 0).toBe(0);
  const counts = (await group.restartCounts()).filter((count) => count !== restartsOfContainers);
  // In Supervisor mode, no container restarts. The init container of a copied agent counts there too.
  expect(counts).toEqual([]);
  expect(Math.max(...times)).toBeLessThan(NO_BACKOFF_MS);
});

it('a JobSet without annotations restarts in place', async () => {
  const group = await groups.start({ name: 'plain', size: SIZE });
  await group.running(1);
  const before = await group.uids();
  await group.kill(1);
  await group.running(2);
  expect(await group.uids()).toEqual(before);
  expect(await group.status()).toMatchObject({ inPlaceRestartsCountTowardsMax: 1 });
});
