/** What a later installation keeps where it has no flag about it. */

import { CONFIG_MAPS } from '@lockstep/kube/objects/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { beforeEach, expect, test } from 'vitest';
import { upstreamDefinition } from '../../../test/fixtures/upstream-definition.ts';
import {
  DEPLOYMENTS,
  type Deployment,
  NETWORK_POLICIES,
  SERVICE_MONITORS,
} from '../../deploy/kinds.ts';
import { manifest } from '../../deploy/manifest.ts';
import { OPERATOR_NAME } from '../../deploy/permissions.ts';
import { install } from './install.ts';
import { InstallationWorld, optionsOf } from './installation.fixture.ts';
import { type InstallFlags, parseInstallFlags } from './options.ts';

const AT = { namespace: 'lockstep-system', name: OPERATOR_NAME };
const OFF = { webhooks: 'off' } as const;

let world: InstallationWorld;
beforeEach(() => {
  world = new InstallationWorld();
});

function flagsOf(flags: Partial<InstallFlags>, version: string) {
  const parsed = parseInstallFlags({ namespace: 'lockstep-system', ...flags }, version);
  if ('errors' in parsed) throw new Error(parsed.errors.join());
  return parsed.options;
}

/** Runs the command; what it printed about what stays and changes. */
async function installed(
  flags: Partial<InstallFlags> = {},
  version = '1.2.3',
): Promise<readonly string[]> {
  world.printed.splice(0);
  const options = flagsOf(flags, version);
  expect(await install(world.context(), options), world.warned.join()).toBe(0);
  return world.printed.filter((line) => /^(kept|changed|dropped):/.test(line));
}

async function container() {
  const { spec }: Deployment = await world.client.get(DEPLOYMENTS, AT);
  return spec?.template?.spec?.containers?.[0];
}

test('webhooks, namespaces, policies, alerts, Secrets and memory stay', async () => {
  await world.bringUp(optionsOf(OFF));
  const given = {
    ...OFF,
    watchNamespace: ['team-a', 'team-b'],
    networkPolicy: true,
    monitoring: true,
    imagePullSecret: ['mirror'],
    operatorMemory: '4Gi',
  };
  expect(await installed(given)).toEqual([]);
  const before = (await world.client.get(DEPLOYMENTS, AT)) as Deployment;
  const kept = [
    '--webhooks off',
    '--watch-namespace team-a team-b',
    '--network-policy',
    '--monitoring',
    '--image-pull-secret mirror',
    '--operator-memory 4Gi',
  ];
  const lines = kept.map((flag) => `kept: ${flag} (set by an earlier installation)`);
  expect(await installed()).toEqual(lines);
  expect(await installed()).toEqual(lines);
  expect(((await world.client.get(DEPLOYMENTS, AT)) as Deployment).spec).toEqual(before.spec);
  await world.client.get(NETWORK_POLICIES, AT);

  const less = { watchNamespace: false, networkPolicy: false, monitoring: false } as const;
  expect(await installed(less)).toEqual(
    lines.filter((line) => /webhooks|secret|memory/.test(line)),
  );
  await expect(world.client.get(NETWORK_POLICIES, AT)).rejects.toThrow('not found');
  await expect(world.client.get(SERVICE_MONITORS, AT)).rejects.toThrow('not found');
  const reset = kept.filter((flag) => /secret|memory/.test(flag)).map((flag) => `dropped: ${flag}`);
  expect(await installed({ ...OFF, reset: true })).toEqual(reset);
  expect((await container())?.resources?.limits).toMatchObject({ memory: '2048Mi' });
});

test('an operator beside upstream’s controller stays there until flags say otherwise', async () => {
  await world.client.create(CUSTOM_RESOURCE_DEFINITIONS, upstreamDefinition('0.12'));
  const pilot = optionsOf({ onlyManaged: true });
  for (const { of, object } of manifest(pilot.settings)) await world.client.create(of, object);
  expect(await installed({ dryRun: true })).toEqual([
    'kept: --only-managed (set by an earlier installation)',
  ]);
  expect(world.printed.join()).not.toContain('CustomResourceDefinition');
  const off = flagsOf({ ...OFF, dryRun: true }, '1.2.3');
  expect(await install(world.context(), off)).toBe(1);
  expect(world.warned).toEqual([expect.stringMatching(/^--webhooks is "off", expected "on" with/)]);
  const switched = { onlyManaged: false, replaceCrd: true, dryRun: true };
  expect(await installed(switched)).toEqual([]);
  expect(world.printed.join()).toContain('CustomResourceDefinition');
});

test('what a file edited by hand confines is confined with all objects', async () => {
  await world.client.create(CUSTOM_RESOURCE_DEFINITIONS, upstreamDefinition('0.12'));
  for (const { of, object } of manifest({ ...optionsOf().settings, definition: false }))
    await world.client.create(of, object);
  const text = `apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\nonlyManaged: true\n`;
  const patch = { data: { 'configuration.yaml': text } };
  await world.client.patch(CONFIG_MAPS, AT, { type: 'merge', patch });
  expect(await installed({ dryRun: true })).toEqual([
    'kept: --only-managed (set by an earlier installation)',
    'kept: onlyManaged true (edited by hand)',
  ]);
  expect(world.printed.join()).not.toContain('CustomResourceDefinition');
});

const MIRROR = 'registry.example:5000/mirror';
const DIGEST = `@sha256:${'0'.repeat(64)}`;

test.each<[string, Partial<InstallFlags>, string, string | undefined, string]>([
  [
    'none',
    {},
    'lockstep/operator:2',
    undefined,
    'changed: image of the operator from lockstep/operator:1.2.3 to lockstep/operator:2',
  ],
  [
    'a registry',
    { registry: MIRROR },
    `${MIRROR}/lockstep/operator:2`,
    `${MIRROR}/lockstep/agent:2`,
    `changed: image of the operator from ${MIRROR}/lockstep/operator:1.2.3 to ${MIRROR}/lockstep/operator:2`,
  ],
  [
    'digests of our names',
    {
      operatorImage: `${MIRROR}/lockstep/operator${DIGEST}`,
      agentImage: `${MIRROR}/lockstep/agent:1${DIGEST}`,
    },
    `${MIRROR}/lockstep/operator:2`,
    `${MIRROR}/lockstep/agent:2`,
    `changed: image of the operator from ${MIRROR}/lockstep/operator${DIGEST} to ${MIRROR}/lockstep/operator:2`,
  ],
  [
    'names of others',
    { operatorImage: 'op:1', agentImage: 'ag:1' },
    'lockstep/operator:2',
    undefined,
    'changed: image of the operator from op:1 to lockstep/operator:2',
  ],
])(
  'images follow the version, and their registry stays: %s',
  async (_what, flags, operator, agent, line) => {
    await world.bringUp(optionsOf(OFF));
    await installed({ ...OFF, ...flags });
    const image = (await container())?.image;
    const again = await installed(OFF);
    expect((await container())?.image, 'of the same version').toBe(image);
    expect(again.filter((one) => !one.startsWith('kept: '))).toEqual([]);
    const lines = await installed(OFF, '2');
    expect((await container())?.image).toBe(operator);
    expect(lines.find((one) => one.includes('image of the operator'))).toBe(line);
    const text = JSON.stringify([...world.client.objects.values()]);
    expect(text.includes(`image: \\"${agent ?? '-'}\\"`)).toBe(agent !== undefined);
  },
);
