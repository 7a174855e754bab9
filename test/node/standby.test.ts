/** Warm standbys on a real node: a restart continues in processes that waited for it. */
import { until } from '@lockstep/kube/until.fixture.ts';
import { expect, it } from 'vitest';
import { RESTART_BACKOFF, RESTART_MODE, STANDBY } from '../../src/jobset/names.ts';
import { linesOf, type NodeGroup, nodeGroups, PATIENCE_MS } from './node-group.fixture.ts';

const SIZE = 4;
const RANKS = Array.from({ length: SIZE }, (_, rank) => rank);
/** As the guide on warm standbys has it. */
const PREPARE =
  'if [ -n "$LOCKSTEP_START_FILE" ]; then echo phase=standby >> $LOCKSTEP_PROGRESS_FILE; ' +
  'until [ -e "$LOCKSTEP_START_FILE" ]; do sleep 0.05; done; fi;';
const STEPS =
  'i=0; while :; do i=$((i+1)); echo $i >> $LOCKSTEP_PROGRESS_FILE; sleep 1 & wait $!; done';
const WAITS = 'a standby waits for the next epoch';

const groups = nodeGroups();

/** Resolves with the processes of all standbys when they wait for epoch `epoch`. */
async function standbys(group: NodeGroup, epoch: number): Promise<readonly (number | undefined)[]> {
  return await until(
    'all have standbys that wait',
    async () => {
      const waits = (await group.pods()).map(
        (pod) => linesOf(pod).filter(({ text }) => text.includes(WAITS)).length,
      );
      expect(waits).toEqual(RANKS.map(() => epoch - 1));
      return await Promise.all(RANKS.map(async (rank) => (await group.workers(rank))[1]?.pid));
    },
    PATIENCE_MS,
  );
}

it('a group restarts into its standbys', async () => {
  const group = await groups.start({
    name: 'warm',
    size: SIZE,
    prepare: PREPARE,
    script: STEPS,
    annotations: {
      [RESTART_MODE]: 'Supervisor',
      [RESTART_BACKOFF]: 'Disabled',
      [STANDBY]: 'Warm',
    },
  });
  await group.running(1);
  const uids = await group.uids();
  const times: number[] = [];
  for (const epoch of [2, 3, 4]) {
    const waiting = await standbys(group, epoch);
    const killedAt = await group.kill(epoch % SIZE);
    times.push((await group.running(epoch)) - killedAt);
    const workers = await Promise.all(RANKS.map((rank) => group.workers(rank)));
    expect(workers.map(([worker]) => worker?.pid)).toEqual(waiting);
  }
  process.stdout.write(`warm standbys, ${SIZE} Pods: restarts took ${times.join(', ')} ms\n`);
  expect(await group.uids()).toEqual(uids);
  expect(await group.status()).toMatchObject({ inPlaceRestartsCountTowardsMax: 3 });
});
