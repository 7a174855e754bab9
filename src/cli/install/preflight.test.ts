import { MUTATING_WEBHOOK_CONFIGURATIONS } from '@lockstep/kube/objects/admission-webhooks.ts';
import { NAMESPACES } from '@lockstep/kube/objects/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { failure } from '@lockstep/kube/status.ts';
import { notFound, unsupportedMediaType } from '@lockstep/kube/status-errors.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { DEPLOYMENTS } from '../../deploy/kinds.ts';
import { manifest } from '../../deploy/manifest.ts';
import type { Installed } from '../../deploy/settings.ts';
import { JOBSET_CRD } from '../../jobset/schema/crd.ts';
import { mutatingConfiguration } from '../../operator/webhooks/webhook-configurations.ts';
import { install } from './install.ts';
import { InstallationWorld, optionsOf } from './installation.fixture.ts';
import type { InstallFlags } from './options.ts';
import { preflight } from './preflight.ts';

let world: InstallationWorld;

beforeEach(() => {
  world = new InstallationWorld();
});

describe('before an installation', () => {
  const look = (
    version?: string,
    flags: Partial<InstallFlags> = {},
    objects: readonly Installed[] = [],
  ) =>
    preflight({
      ...world.context(version),
      objects,
      replaceCrd: optionsOf(flags).replaceCrd,
    });

  const UPSTREAMS_CRD = {
    ...JOBSET_CRD,
    spec: { ...JOBSET_CRD.spec, versions: [{ name: 'v1alpha2', served: true, storage: true }] },
  };

  test('a server that is too old is refused', async () => {
    expect((await look('1.29.14')).problems).toEqual([
      'the API server runs Kubernetes 1.29.14; Lockstep needs 1.30 or later',
    ]);
    expect((await look('1.32.1')).warnings).toEqual([
      expect.stringContaining('lockstep/restart-mode: Supervisor'),
      expect.stringMatching(/Lockstep is tested on .*, not on 1\.32$/),
    ]);
    expect(await look('1.36.3')).toEqual({ problems: [], warnings: [] });
  });

  test('the controller of upstream is not to act on the same JobSets', async () => {
    const metadata = { namespace: 'jobset-system', name: 'jobset-controller-manager' };
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata };
    await world.client.create(DEPLOYMENTS, { ...deployment, status: { replicas: 1 } });
    const [problem] = (await look()).problems;
    expect(problem).toContain(
      'kubectl -n jobset-system scale deployment jobset-controller-manager',
    );
    const scaled = { type: 'merge', patch: { status: {} } } as const;
    await world.client.patch(DEPLOYMENTS, metadata, scaled);
    expect((await look()).problems).toEqual([]);
  });

  test('finds one that a chart installed, under another name, and its webhooks', async () => {
    const labels = { 'app.kubernetes.io/name': 'jobset' };
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: 'ml', name: 'mine-jobset-controller', labels },
    };
    const webhooks = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'mine-jobset-mutating', labels },
    };
    await world.client.create(DEPLOYMENTS, { ...deployment, status: { replicas: 2 } });
    await world.client.create(MUTATING_WEBHOOK_CONFIGURATIONS, webhooks);
    expect((await look()).problems).toEqual([
      'the controller of kubernetes-sigs/jobset runs in this cluster (Deployment ml/mine-jobset-controller), and two controllers would act on the same JobSets: run "kubectl -n ml scale deployment mine-jobset-controller --replicas=0", "kubectl delete mutatingwebhookconfiguration mine-jobset-mutating"; JobSets and their Pods stay',
    ]);
    await world.client.delete(DEPLOYMENTS, deployment.metadata);
    expect((await look()).problems).toEqual([
      expect.stringMatching(/^webhooks of .*, which does not run, would refuse every JobSet: run /),
    ]);
  });

  test('the definition of upstream is replaced only if that is asked for', async () => {
    await world.client.create(CUSTOM_RESOURCE_DEFINITIONS, UPSTREAMS_CRD);
    expect((await look()).problems).toEqual([expect.stringContaining('--replace-crd')]);
    expect((await look('1.36.3', { replaceCrd: true })).problems).toEqual([]);
  });

  test('JobSets that are stored in another version stop it', async () => {
    const stored = { ...UPSTREAMS_CRD, status: { storedVersions: ['v1alpha1', 'v1alpha2'] } };
    await world.client.create(CUSTOM_RESOURCE_DEFINITIONS, stored);
    expect((await look('1.36.3', { replaceCrd: true })).problems).toEqual([
      expect.stringMatching(/has stored JobSets as v1alpha1, .* migrate them to v1alpha2 first/),
    ]);
  });

  test('nor is the operator of a command that has joined the cluster', async () => {
    const url = 'https://10.1.2.3:4567';
    const address = { kind: 'Url', url } as const;
    const joined = mutatingConfiguration({ address, bundle: 'pem' });
    await world.client.create(MUTATING_WEBHOOK_CONFIGURATIONS, joined);
    expect((await look()).problems).toEqual([
      expect.stringMatching(/"lockstep up --kubeconfig" .* at 10.1.2.3:4567\): end that command/),
    ]);
  });

  test('a namespace to which the operator is to be confined has to be there', async () => {
    world.client.before = (verb, path) => {
      if (verb === 'PATCH' && path.includes('team-a')) throw notFound(NAMESPACES, 'team-a');
    };
    const flags = { watchNamespace: ['team-a', 'team-b'] };
    const objects = manifest(optionsOf(flags).settings);
    expect((await look('1.36.3', flags, objects)).problems).toEqual([
      'namespace team-a does not exist: create it first',
    ]);
  });

  test('a definition of ours is no problem', async () => {
    await world.client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD);
    expect((await look()).problems).toEqual([]);
  });

  test('all that is in the way is reported at once, and each once', async () => {
    await world.client.create(CUSTOM_RESOURCE_DEFINITIONS, UPSTREAMS_CRD);
    const metadata = { namespace: 'jobset-system', name: 'jobset-controller-manager' };
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata };
    await world.client.create(DEPLOYMENTS, { ...deployment, status: { replicas: 1 } });
    world.client.before = (verb) => {
      if (verb === 'PATCH') throw failure('Forbidden', 'User "eve" cannot patch resource "x"');
    };
    const { problems } = await look('1.36.3', {}, manifest(optionsOf().settings));
    expect(problems).toEqual([
      expect.stringContaining('scale deployment jobset-controller-manager'),
      expect.stringMatching(/^CustomResourceDefinition .* belongs to another controller/),
      expect.stringMatching(/^eve may not create Namespace .*cluster-admin\)$/),
    ]);
    expect(problems.at(-1)).not.toContain('CustomResourceDefinition');
  });

  test.each([
    [
      failure('Forbidden', 'x is forbidden: User "eve" cannot patch resource "x"'),
      /^lockstep: eve may not create Namespace .*, Deployment .*cluster-admin\)$/,
    ],
    [
      unsupportedMediaType(['application/json-patch+json']),
      /no server-side apply \(Kubernetes 1.22 or later\)/,
    ],
  ])(
    'what is refused is reported in one message, and nothing is made: %s',
    async (error, expected) => {
      const made: string[] = [];
      world.client.before = (verb, path) => {
        if (verb !== 'PATCH') return;
        made.push(path);
        throw error;
      };
      expect(await install(world.context(), optionsOf())).toBe(1);
      expect(world.warned).toHaveLength(1);
      expect(`lockstep: ${world.warned[0]}`).toMatch(expected);
      expect(made).toHaveLength(manifest(optionsOf().settings).length);
      expect(world.printed).toEqual([]);
    },
  );
});
