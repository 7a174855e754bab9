/** Lockstep leaves a cluster and comes back while a group runs. */
import { expect, it } from 'vitest';
import { RESTART_MODE } from '../../src/jobset/names.ts';
import { lockstep } from './node.ts';
import { nodeGroups } from './node-group.fixture.ts';

const SIZE = 2;
/** Agents read the authorities of the new hub from a volume, which the kubelet renews within two minutes. */
const NEW_HUB_MS = 200_000;

const groups = nodeGroups();

it.each(['Supervisor', 'Sidecar'])(
  'a group in %s mode outlives an uninstallation, and restarts after the next installation',
  async (mode) => {
    const group = await groups.start({
      name: `outlives-${mode.toLowerCase()}`,
      size: SIZE,
      annotations: { [RESTART_MODE]: mode },
    });
    await group.running(1);
    const uids = await group.uids();
    expect(await lockstep('uninstall')).toContain('Lockstep is gone');
    const [worker] = await group.workers(0);
    await lockstep('install');
    expect(await group.uids()).toEqual(uids);
    expect((await group.workers(0))[0]?.pid).toBe(worker?.pid);
    await group.kill(1);
    await group.running(2, NEW_HUB_MS);
    expect(await group.uids()).toEqual(uids);
  },
);
