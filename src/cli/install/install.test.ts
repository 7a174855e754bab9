import { NAMESPACES } from '@lockstep/kube/objects/core.ts';
import { LEASES } from '@lockstep/kube/objects/lease.ts';
import { CLUSTER_ROLE_BINDINGS } from '@lockstep/kube/objects/rbac.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { manifest } from '../../deploy/manifest.ts';
import { OPERATOR_NAME } from '../../deploy/permissions.ts';
import { LEADER_ELECTION_ID } from '../../operator/configuration/object-names.ts';
import { install } from './install.ts';
import { InstallationWorld, optionsOf } from './installation.fixture.ts';
import { uninstall } from './uninstall.ts';

let world: InstallationWorld;

beforeEach(() => {
  world = new InstallationWorld();
});

describe('lockstep install', () => {
  test('applies everything and waits until it is ready', async () => {
    const running = install(world.context(), optionsOf());
    await world.clock.advance(5_000);
    expect(world.printed.at(-1)).toMatch(
      /^waiting for JobSet API: not served yet; operator: 0 of 1/,
    );
    await world.becomeReady();
    await world.clock.advance(1_000);
    expect(await running).toBe(0);
    expect(world.printed.at(-1)).toBe('Lockstep 1.2.3 is ready');
    expect(world.printed).toHaveLength(manifest(optionsOf().settings).length + 2);
  });

  test('takes the webhooks of an earlier installation away where there are to be none', async () => {
    await world.bringUp();
    const off = optionsOf({ webhooks: 'off' });
    expect(await install(world.context(), off)).toBe(0);
    expect(world.printed.slice(0, 3)).toEqual([
      'ValidatingWebhookConfiguration lockstep-validating-webhook-configuration deleted',
      'MutatingWebhookConfiguration lockstep-mutating-webhook-configuration deleted',
      'Service lockstep-system/lockstep-webhook-service deleted',
    ]);
  });

  test('takes rights away where the operator acts no more, and its network policy', async () => {
    const off = { webhooks: 'off' } as const;
    const watchNamespace = ['team-a', 'team-b'];
    const confined = optionsOf({ ...off, watchNamespace, networkPolicy: true });
    for (const { of, object } of manifest(confined.settings)) await world.client.create(of, object);
    await world.becomeReady(optionsOf(off));
    const fewer = optionsOf({ ...off, watchNamespace: ['team-b'], networkPolicy: false });
    expect(await install(world.context(), fewer)).toBe(0);
    const deleted = world.printed.filter((line) => line.endsWith(' deleted'));
    expect(deleted).toEqual([
      'NetworkPolicy lockstep-system/lockstep-operator deleted',
      'RoleBinding team-a/lockstep-operator-jobsets deleted',
      'Role team-a/lockstep-operator-jobsets deleted',
    ]);
    const options = { ...optionsOf({ networkPolicy: true }), deleteJobSets: false };
    expect(await uninstall(world.context(), options)).toBe(0);
    expect(world.printed).toContain('Role team-b/lockstep-operator-jobsets deleted');
  });

  test('changes nothing of a release of Helm, and names the commands that do', async () => {
    await world.bringUp();
    const annotations = {
      'meta.helm.sh/release-name': 'mine\u001b',
      'meta.helm.sh/release-namespace': 'lockstep-system',
    };
    const patch = { type: 'merge', patch: { metadata: { annotations } } } as const;
    await world.client.patch(CLUSTER_ROLE_BINDINGS, { name: OPERATOR_NAME }, patch);
    expect(await install(world.context(), optionsOf())).toBe(1);
    expect(await uninstall(world.context(), { ...optionsOf(), deleteJobSets: true })).toBe(1);
    expect(world.printed).toEqual([]);
    const why = expect.stringContaining('"helm upgrade mine\\x1b --namespace lockstep-system"');
    expect(world.warned).toEqual([why, why]);
  });

  test('leaves a namespace as it is that was there before', async () => {
    const metadata = { name: 'lockstep-system', labels: { team: 'ml' } };
    await world.client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata });
    const running = install(world.context(), optionsOf());
    await world.clock.advance(2_000);
    await world.becomeReady();
    await world.clock.advance(2_000);
    expect(await running).toBe(0);
    expect(world.printed[0]).toBe('Namespace lockstep-system exists already and stays unchanged');
    expect((await world.client.get(NAMESPACES, metadata)).metadata.labels).toEqual({ team: 'ml' });
    world.printed.splice(0);
    await uninstall(world.context(), { ...optionsOf(), deleteJobSets: false });
    expect(world.printed).toContain(
      'Namespace lockstep-system stays: it does not belong to Lockstep',
    );
    expect(await world.client.get(NAMESPACES, metadata)).toMatchObject({ kind: 'Namespace' });
    const lease = world.client.get(LEASES, { namespace: metadata.name, name: LEADER_ELECTION_ID });
    await expect(lease, 'what the operator made goes too').rejects.toThrow('not found');
  });

  test.each([
    ['install', install],
    ['uninstall', (context, options) => uninstall(context, { ...options, deleteJobSets: true })],
  ] satisfies [string, typeof install][])(
    'says of the embedded cluster that there is nothing to do: %s',
    async (_name, command) => {
      await world.bringUp();
      expect(await command(world.context('1.36.3+lockstep'), optionsOf())).toBe(1);
      expect(world.printed).toEqual([]);
      expect(world.warned).toEqual([expect.stringMatching(/embedded cluster of "lockstep up"/)]);
    },
  );

  test('is refused beside an installation in another namespace, as is uninstall', async () => {
    await world.bringUp();
    const elsewhere = optionsOf({ namespace: 'other' });
    expect(await install(world.context(), elsewhere)).toBe(1);
    expect(await uninstall(world.context(), { ...elsewhere, deleteJobSets: true })).toBe(1);
    expect(new Set(world.warned)).toEqual(
      new Set([
        'Lockstep is installed in namespace lockstep-system, not in other: use --namespace lockstep-system, or uninstall it there first',
      ]),
    );
    expect(world.printed).toEqual([]);
  });

  test('gives up after its time-out, and says what is missing', async () => {
    let code: number | undefined;
    void install(world.context(), optionsOf({ timeout: '5' })).then((ended) => {
      code = ended;
    });
    await world.clock.runUntil(() => code !== undefined, 60_000);
    expect(code).toBe(1);
    expect(world.warned.slice(0, 3)).toEqual([
      'not ready after 5 s:',
      '  JobSet API: not served yet',
      '  operator: 0 of 1 replicas are available',
    ]);
  });
});
