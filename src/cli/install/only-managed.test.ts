/** Installations beside the controller of kubernetes-sigs/jobset. */

import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { LEASES } from '@lockstep/kube/objects/lease.ts';
import { beforeEach, expect, test } from 'vitest';
import { upstreamDefinition } from '../../../test/fixtures/upstream-definition.ts';
import { DEPLOYMENTS } from '../../deploy/kinds.ts';
import { manifest } from '../../deploy/manifest.ts';
import { JOBSET_CRD } from '../../jobset/schema/crd.ts';
import {
  LEADER_ELECTION_ID,
  ONLY_MANAGED_LEASE,
} from '../../operator/configuration/object-names.ts';
import { install } from './install.ts';
import { InstallationWorld, optionsOf } from './installation.fixture.ts';
import type { InstallFlags } from './options.ts';
import { parseInstallFlags } from './options.ts';
import { uninstall } from './uninstall.ts';

const PILOT = { onlyManaged: true, dryRun: true } as const;
const DEFINITION = 'CustomResourceDefinition jobsets.jobset.x-k8s.io';

let world: InstallationWorld;

beforeEach(() => {
  world = new InstallationWorld();
});

async function upstreamIsThere(): Promise<void> {
  await world.client.create(CUSTOM_RESOURCE_DEFINITIONS, upstreamDefinition('0.12'));
  await world.client.create(DEPLOYMENTS, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'jobset-system', name: 'jobset-controller-manager' },
    status: { replicas: 1 },
  });
}

async function installed(flags: Partial<InstallFlags>): Promise<number> {
  return install(world.context(), optionsOf(flags));
}

test('leave its definition, its webhooks and its Deployment as they are', async () => {
  await upstreamIsThere();
  expect(await installed(PILOT)).toBe(0);
  expect(world.warned).toEqual([]);
  expect(world.printed.join('\n')).not.toContain(DEFINITION);
  expect(world.printed).toContain('Deployment lockstep-system/lockstep-operator would be applied');
});

test('are refused without the flag', async () => {
  await upstreamIsThere();
  expect(await installed({ dryRun: true })).toBe(1);
  expect(world.warned.join('\n')).toContain('two controllers would act on the same JobSets');
});

test('need a definition, or permission to install ours', async () => {
  expect(await installed(PILOT)).toBe(1);
  expect(world.warned).toEqual([
    expect.stringMatching(
      /^there is no CustomResourceDefinition .* --only-managed .* --replace-crd/,
    ),
  ]);
  expect(await installed({ ...PILOT, replaceCrd: true })).toBe(0);
  expect(world.printed).toContain(`${DEFINITION} would be applied`);
});

test('replace its definition where that is wanted, and then keep ours up to date', async () => {
  await upstreamIsThere();
  expect(await installed({ ...PILOT, replaceCrd: true })).toBe(0);
  expect(world.printed).toContain(`${DEFINITION} would be applied`);
  world = new InstallationWorld();
  await world.client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD);
  expect(await installed(PILOT)).toBe(0);
  expect(world.printed).toContain(`${DEFINITION} would be applied`);
});

test('have webhooks, because nothing else keeps the mode', () => {
  const flags = { namespace: 'lockstep-system', onlyManaged: true, webhooks: 'off' };
  expect(parseInstallFlags(flags, '1.2.3')).toEqual({
    errors: [expect.stringMatching(/^--webhooks is "off", expected "on" with --only-managed/)],
  });
});

test('are removed alone: JobSets of both stay, with their definition', async () => {
  const options = optionsOf({ onlyManaged: true, replaceCrd: true });
  for (const { of, object } of manifest(options.settings)) await world.client.create(of, object);
  await upstreamIsThere().catch(() => undefined);
  const wanted = { ...optionsOf(), deleteJobSets: true };
  expect(await uninstall(world.context(), wanted)).toBe(0);
  expect(world.printed.join('\n')).not.toContain(DEFINITION);
  const name = JOBSET_CRD.metadata.name ?? '';
  await expect(world.client.get(CUSTOM_RESOURCE_DEFINITIONS, { name })).resolves.toBeDefined();
});

test('do not take the lease of upstream’s controller away from a namespace of both', async () => {
  const options = optionsOf({ onlyManaged: true });
  for (const { of, object } of manifest(options.settings)) {
    const isNamespace = of.kind === 'Namespace';
    const { labels: _, ...metadata } = object.metadata;
    await world.client.create(of, isNamespace ? { ...object, metadata } : object);
  }
  for (const name of [LEADER_ELECTION_ID, ONLY_MANAGED_LEASE]) {
    const metadata = { namespace: 'lockstep-system', name };
    await world.client.create(LEASES, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata,
      spec: {},
    });
  }
  expect(await uninstall(world.context(), { ...optionsOf(), deleteJobSets: false })).toBe(0);
  const { items } = await world.client.list(LEASES);
  expect(items.map(({ metadata }) => metadata.name)).toEqual([LEADER_ELECTION_ID]);
});
