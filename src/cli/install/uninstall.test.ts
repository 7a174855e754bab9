import type { KubeObject } from '@lockstep/kube/meta.ts';
import { CONFIG_MAPS, SECRETS } from '@lockstep/kube/objects/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { LEASES } from '@lockstep/kube/objects/lease.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { manifest } from '../../deploy/manifest.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import { HUB_AUTHORITIES_NAME } from '../../jobset/names.ts';
import { JOBSET_CRD } from '../../jobset/schema/crd.ts';
import { HUB_AUTHORITIES_LABELS } from '../../operator/configuration/object-names.ts';
import { InstallationWorld, optionsOf } from './installation.fixture.ts';
import { keyOf } from './objects.ts';
import { uninstall } from './uninstall.ts';

let world: InstallationWorld;

beforeEach(() => {
  world = new InstallationWorld();
});

describe('lockstep uninstall', () => {
  test('removes everything but the JobSets and their definition', async () => {
    await world.bringUp();
    const options = { ...optionsOf(), deleteJobSets: false };
    expect(await uninstall(world.context(), options)).toBe(0);
    const left: string[] = [];
    for (const { of, object } of manifest(options.settings)) {
      const found = await world.client.get(of, keyOf(object)).catch(() => undefined);
      if (found !== undefined) left.push(of.kind);
    }
    expect(left).toEqual(['CustomResourceDefinition']);
    expect(world.printed[0]).toMatch(/^ValidatingWebhookConfiguration .* deleted$/);
    expect(world.printed).toContain(
      'CustomResourceDefinition jobsets.jobset.x-k8s.io stays, with no JobSets; --delete-jobsets removes both',
    );
    expect(world.printed.at(-1)).toBe('Lockstep is gone');
    world.printed.splice(0);
    expect(await uninstall(world.context(), options), 'once more').toBe(0);
    expect(world.printed.at(-1)).toBe('Lockstep is not installed');
  });

  test('removes what the operator made under names that settings give', async () => {
    const names =
      'internalCertManagement: { webhookSecretName: mine }\nleaderElection: { resourceName: my-lease }';
    const { settings } = optionsOf({}, names);
    for (const { of, object } of manifest(settings)) {
      const isNamespace = of.kind === 'Namespace';
      const { labels: _, ...metadata } = object.metadata;
      await world.client.create(of, isNamespace ? { ...object, metadata } : object);
    }
    const made = [
      [SECRETS, 'mine'],
      [LEASES, 'my-lease'],
    ] as const;
    for (const [of, name] of made) {
      const metadata = { namespace: 'lockstep-system', name };
      await world.client.create<KubeObject>(of, { apiVersion: 'v1', kind: of.kind, metadata });
    }
    expect(await uninstall(world.context(), { ...optionsOf(), deleteJobSets: false })).toBe(0);
    for (const [of, name] of made) {
      const at = { namespace: 'lockstep-system', name };
      await expect(world.client.get<KubeObject>(of, at)).rejects.toThrow('not found');
    }
  });

  test('says how many JobSets go, or stay', async () => {
    await world.bringUp();
    for (const name of ['a', 'b']) {
      const metadata = { namespace: 'default', name };
      await world.client.create(JOBSETS, {
        apiVersion: 'jobset.x-k8s.io/v1alpha2',
        kind: 'JobSet',
        metadata,
        spec: {},
      });
    }
    const options = optionsOf({ dryRun: true });
    for (const deleteJobSets of [false, true])
      await uninstall(world.context(), { ...options, deleteJobSets });
    expect(world.printed.filter((line) => line.includes('JobSets'))).toEqual([
      expect.stringMatching(/ stays, with 2 JobSets; --delete-jobsets removes both$/),
      expect.stringMatching(/ would be deleted, with 2 JobSets$/),
    ]);
  });

  test('leaves the authorities of the hub to groups that run on, and says how they go', async () => {
    await world.bringUp();
    for (const [namespace, labels] of [
      ['team-a', HUB_AUTHORITIES_LABELS],
      ['team-b', HUB_AUTHORITIES_LABELS],
      ['team-c', {}],
    ] as const) {
      const metadata = { namespace, name: HUB_AUTHORITIES_NAME, labels };
      await world.client.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    }
    // With a selector, a server does not say how many objects are left.
    const list = world.client.list.bind(world.client);
    world.client.list = async (of, options) => {
      const { items, ...page } = await list(of, options);
      const from = Number(options?.continue ?? '0');
      const isLast = from + 1 >= items.length;
      const metadata = { ...page.metadata, ...(!isLast && { continue: String(from + 1) }) };
      return { ...page, items: items.slice(from, from + 1), metadata };
    };
    await uninstall(world.context(), { ...optionsOf(), deleteJobSets: false });
    const said = world.printed.filter((line) => line.includes(HUB_AUTHORITIES_NAME));
    expect(said).toEqual([
      expect.stringMatching(
        /^ConfigMap lockstep-hub-authorities stays in 2 namespaces, .*; to remove: kubectl delete configmaps --all-namespaces -l app.kubernetes.io\/managed-by=lockstep --field-selector metadata.name=lockstep-hub-authorities$/,
      ),
    ]);
    const { items } = await list(CONFIG_MAPS);
    expect(items).toHaveLength(3);
  });

  test('touches nothing that only has the name of ours', async () => {
    const crd = {
      ...JOBSET_CRD,
      spec: { ...JOBSET_CRD.spec, versions: [{ name: 'v1alpha2', served: true, storage: true }] },
    };
    await world.client.create(CUSTOM_RESOURCE_DEFINITIONS, crd);
    expect(await uninstall(world.context(), { ...optionsOf(), deleteJobSets: true })).toBe(0);
    expect(world.printed).toEqual([
      'CustomResourceDefinition jobsets.jobset.x-k8s.io stays: it does not belong to Lockstep',
      'Lockstep is not installed',
    ]);
  });

  test('waits for the JobSets that go with their definition, until its time-out', async () => {
    await world.bringUp();
    // A definition stays until the last of its objects has gone.
    const remove = world.client.delete.bind(world.client);
    world.client.delete = (of, at) =>
      of.kind === 'CustomResourceDefinition' ? Promise.resolve() : remove(of, at);
    let code: number | undefined;
    const options = { ...optionsOf({ timeout: '5' }), deleteJobSets: true };
    void uninstall(world.context(), options).then((ended) => {
      code = ended;
    });
    await world.clock.runUntil(() => code !== undefined, 60_000);
    expect(code).toBe(1);
    expect(world.warned).toEqual([
      'CustomResourceDefinition jobsets.jobset.x-k8s.io is still being deleted after 5 s',
    ]);
  });

  test('removes nothing in a dry run', async () => {
    await world.bringUp();
    expect(
      await uninstall(world.context(), { ...optionsOf({ dryRun: true }), deleteJobSets: true }),
    ).toBe(0);
    expect(world.client.calls.filter((call) => call.startsWith('DELETE'))).toEqual([]);
  });
});
