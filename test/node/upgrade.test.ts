/** Lockstep is upgraded from its last version while groups run, as docs/install.md promises it. */
import { NODES } from '@lockstep/kube/objects/node.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { beforeAll, expect, it } from 'vitest';
import { DEFAULT_NAMESPACE } from '../../src/deploy/settings.ts';
import { RESTART_BACKOFF, RESTART_MODE } from '../../src/jobset/names.ts';
import {
  HAS_LAST_VERSION,
  importImage,
  lastVersion,
  lastVersionLockstep,
  lockstep,
} from './node.ts';
import { type NodeGroup, nodeGroups } from './node-group.fixture.ts';

const SIZE = 4;

const groups = nodeGroups();

beforeAll(async () => {
  if (!HAS_LAST_VERSION) return;
  const { items } = await groups.client.list(NODES);
  for (const { metadata } of items) {
    for (const archive of lastVersion().images) await importImage(metadata.name, archive);
  }
});

function startGroup(name: string, mode: string): Promise<NodeGroup> {
  const annotations = { [RESTART_MODE]: mode, [RESTART_BACKOFF]: 'Disabled' };
  return groups.start({ name: `${name}-${mode.toLowerCase()}`, size: SIZE, annotations });
}

/** The images of a group's agents, which run in containers or are mounted. */
async function agentsOf(group: NodeGroup): Promise<ReadonlySet<string>> {
  const pods = JSON.stringify((await group.pods()).map(({ spec }) => spec));
  return new Set(Array.from(pods.matchAll(/lockstep\/agent:[\w.-]+/g), ([image]) => image));
}

async function workersOf(group: NodeGroup): Promise<readonly (number | undefined)[]> {
  const ranks = Array.from({ length: SIZE }, (_, rank) => group.workers(rank));
  return (await Promise.all(ranks)).map(([worker]) => worker?.pid);
}

async function operatorImages(): Promise<ReadonlySet<string>> {
  const { items } = await groups.client.list(PODS, { namespace: DEFAULT_NAMESPACE });
  const running = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return new Set(running.flatMap(({ spec }) => spec.containers.map(({ image }) => image ?? '')));
}

it.skipIf(!HAS_LAST_VERSION)(
  'groups of the last version run on through an upgrade, and restart in place after it',
  async () => {
    const { tag } = lastVersion();
    await lockstep('uninstall', '--delete-jobsets');
    await lastVersionLockstep('install');
    expect(await operatorImages()).toEqual(new Set([`lockstep/operator:${tag}`]));
    const running = await Promise.all([
      startGroup('upgraded', 'Supervisor'),
      startGroup('upgraded', 'Sidecar'),
    ]);
    for (const group of running) await group.running(1);
    // The last version also knows what a restart is.
    for (const group of running) await group.kill(1);
    for (const group of running) await group.running(2);
    const before = await Promise.all(running.map((group) => group.uids()));
    const workers = await Promise.all(running.map(workersOf));
    expect(workers.flat()).not.toContain(undefined);

    await lockstep('install');
    expect(await operatorImages()).not.toContain(`lockstep/operator:${tag}`);
    expect(await Promise.all(running.map(workersOf))).toEqual(workers);

    for (const epoch of [3, 4]) {
      for (const group of running) await group.kill(epoch % SIZE);
      for (const group of running) await group.running(epoch);
    }
    expect(await Promise.all(running.map((group) => group.uids()))).toEqual(before);
    for (const group of running) {
      expect(await agentsOf(group)).toEqual(new Set([`lockstep/agent:${tag}`]));
      expect(await group.status()).toMatchObject({ inPlaceRestartsCountTowardsMax: 3 });
      const [newest] = (await group.status()).restartHistory ?? [];
      expect(newest).toMatchObject({ epoch: 3, cause: 'WorkerFailed', counted: true });
    }

    const fresh = await startGroup('after', 'Supervisor');
    await fresh.running(1);
    expect(await agentsOf(fresh)).not.toContain(`lockstep/agent:${tag}`);
  },
);
