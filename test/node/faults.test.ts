/**
 * The kubelet, the container runtime and the operators die at each stage of a restart: it ends as
 * without that.
 */
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { expect, it } from 'vitest';
import { DEFAULT_NAMESPACE } from '../../src/deploy/settings.ts';
import { RESTART_BACKOFF, RESTART_MODE } from '../../src/jobset/names.ts';
import { doesProgramRun, signalProgram } from './node.ts';
import { type NodeGroup, nodeGroups, PATIENCE_MS } from './node-group.fixture.ts';

const SIZE = 4;
/** Workers stop so slowly that the end of an epoch and the next release are stages apart. */
const STOPS_SLOWLY = "trap 'sleep 1; exit 143' TERM;";

const groups = nodeGroups();

/** When a program dies: what has happened to the group by then. */
const STAGES: Readonly<Record<string, (group: NodeGroup, epoch: number) => Promise<boolean>>> = {
  'the worker has died': () => Promise.resolve(true),
  'the epoch has ended': async (group, epoch) => {
    const { deprecatedEpoch, syncedEpoch } = await group.status();
    return deprecatedEpoch === epoch - 1 && syncedEpoch === epoch - 1;
  },
  'the next epoch is released': async (group, epoch) =>
    (await group.status()).syncedEpoch === epoch,
};

it.each(
  ['Supervisor', 'Sidecar'].flatMap((mode) =>
    (['kubelet', 'containerd'] as const).map((program) => ({ mode, program })),
  ),
)('a group in $mode mode survives the death of $program', async ({ mode, program }) => {
  const group = await groups.start({
    name: `${program}-${mode.toLowerCase()}`,
    size: SIZE,
    prepare: STOPS_SLOWLY,
    annotations: { [RESTART_MODE]: mode, [RESTART_BACKOFF]: 'Disabled' },
  });
  await group.running(1);
  const uids = await group.uids();
  let epoch = 1;
  for (const [stage, isReached] of Object.entries(STAGES)) {
    epoch++;
    // A restart is often over before the program has been started again.
    for (const node of await nodesOf(group)) {
      const runs = async (): Promise<boolean> => doesProgramRun(node, program);
      await until(`${program} of ${node} runs`, runs, PATIENCE_MS);
    }
    const killedAt = await group.kill(epoch % SIZE);
    await until(stage, () => isReached(group, epoch), PATIENCE_MS);
    for (const node of await nodesOf(group)) signalProgram(node, program, 'SIGKILL');
    const took = (await group.running(epoch)) - killedAt;
    process.stdout.write(`${mode}, ${program} killed when ${stage}: ${took} ms\n`);
    expect(await group.uids()).toEqual(uids);
    expect(await group.status()).toMatchObject({
      inPlaceRestarts: epoch - 1,
      inPlaceRestartsCountTowardsMax: epoch - 1,
    });
  }
});

it.each(['Supervisor', 'Sidecar'])(
  'a group in %s mode survives the death of all operators',
  async (mode) => {
    const group = await groups.start({
      name: `operators-${mode.toLowerCase()}`,
      size: SIZE,
      prepare: STOPS_SLOWLY,
      annotations: { [RESTART_MODE]: mode, [RESTART_BACKOFF]: 'Disabled' },
    });
    await group.running(1);
    const uids = await group.uids();
    let epoch = 1;
    for (const [stage, isReached] of Object.entries(STAGES)) {
      epoch++;
      const killedAt = await group.kill(epoch % SIZE);
      await until(stage, () => isReached(group, epoch), PATIENCE_MS);
      await killOperators();
      const took = (await group.running(epoch)) - killedAt;
      process.stdout.write(`${mode}, operators killed when ${stage}: ${took} ms\n`);
      expect(await group.uids()).toEqual(uids);
      expect(await group.status()).toMatchObject({
        inPlaceRestarts: epoch - 1,
        inPlaceRestartsCountTowardsMax: epoch - 1,
      });
    }
  },
);

/** A deletion without grace, because a kubelet delays the restart of a container that crashes again. */
async function killOperators(): Promise<void> {
  const { items } = await groups.client.list(PODS, { namespace: DEFAULT_NAMESPACE });
  expect(items).not.toEqual([]);
  for (const { metadata } of items) {
    const at = { namespace: DEFAULT_NAMESPACE, name: metadata.name };
    await groups.client.delete(PODS, at, { gracePeriodSeconds: 0 });
  }
}

async function nodesOf(group: NodeGroup): Promise<ReadonlySet<string>> {
  return new Set((await group.pods()).map(({ spec }) => spec?.nodeName ?? ''));
}
