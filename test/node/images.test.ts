/** How the agent gets into containers of all sorts: copied or mounted, without a shell, without rights, behind an entry point. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESTART_MODE } from '../../src/jobset/names.ts';
import { lockstep } from './node.ts';
import { CONFINED, nodeGroups } from './node-group.fixture.ts';

const SIZE = 2;

const groups = nodeGroups();

const READ_ONLY = {
  securityContext: { ...CONFINED.securityContext, readOnlyRootFilesystem: true },
};
const STATIC = { image: 'lockstep-test/worker:1', ...READ_ONLY };

describe.each([
  { delivery: 'Copy', volume: 'emptyDir' },
  { delivery: 'ImageVolume', volume: 'image' },
])('with delivery $delivery', ({ delivery, volume }) => {
  beforeAll(async () => {
    await lockstep('install', '--agent-delivery', delivery);
  });
  afterAll(async () => {
    await lockstep('install', '--agent-delivery', 'Auto');
  });

  it.each([
    { name: 'shell', what: 'a shell', container: READ_ONLY, pod: {} },
    {
      name: 'static',
      what: 'a static program without a shell',
      container: { ...STATIC, command: ['/worker'] },
      pod: {},
    },
    {
      name: 'users',
      what: 'a user namespace',
      container: { ...STATIC, command: ['/worker'] },
      pod: { hostUsers: false },
    },
  ])('a worker with $what restarts in its Pod', async ({ name, container, pod }) => {
    const group = await groups.start({
      name: `${name}-${delivery.toLowerCase()}`,
      size: SIZE,
      annotations: { [RESTART_MODE]: 'Supervisor' },
      container,
      pod,
    });
    await group.running(1);
    const uids = await group.uids();
    const agents = (await group.pods()).map(({ spec }) =>
      spec?.volumes?.filter(({ name }) => /agent/.test(name)).flatMap((one) => Object.keys(one)),
    );
    for (const fields of agents) expect(fields).toContain(volume);
    await group.kill(1);
    await group.running(2);
    expect(await group.uids()).toEqual(uids);
  });
});

it('a worker whose image has an entry point and no shell restarts beside a sidecar', async () => {
  const container = { ...STATIC, command: undefined };
  const group = await groups.start({ name: 'entrypoint', size: SIZE, container });
  await group.running(1);
  const uids = await group.uids();
  await group.kill(1);
  await group.running(2);
  expect(await group.uids()).toEqual(uids);
});
