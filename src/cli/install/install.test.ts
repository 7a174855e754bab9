import { beforeEach, describe, expect, test } from 'vitest';
import { DEPLOYMENTS } from '../../deploy/kinds.ts';
import { manifest } from '../../deploy/manifest.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import { JOBSET_CRD } from '../../jobset/schema/crd.ts';
import {
  MUTATING_WEBHOOK_CONFIGURATIONS,
  VALIDATING_WEBHOOK_CONFIGURATIONS,
} from '../../kube/admission.ts';
import { NAMESPACES } from '../../kube/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../kube/custom-resource-definition.ts';
import { matchesLabels, parseLabelSelector } from '../../kube/label-selector.ts';
import { LEASES } from '../../kube/lease.ts';
import type { KubeList, KubeObject, Stored } from '../../kube/meta.ts';
import { PODS } from '../../kube/pod.ts';
import type { Resource } from '../../kube/resource.ts';
import { failure } from '../../kube/status.ts';
import { unsupportedMediaType } from '../../kube/status-errors.ts';
import { LEADER_ELECTION_ID } from '../../operator/names.ts';
import type { ListOptions } from '../../runtime/client.ts';
import { MemoryClient } from '../../runtime/memory/memory-client.ts';
import { VirtualClock } from '../../runtime/memory/virtual-clock.ts';
import { timestamp } from '../../runtime/ports/clock.ts';
import { type CommandContext, install, status } from './install.ts';
import { keyOf } from './objects.ts';
import { type InstallFlags, type InstallOptions, parseInstallFlags } from './options.ts';
import { preflight } from './preflight.ts';
import { uninstall } from './uninstall.ts';

/** Knows lists, with labels. */
class Cluster extends MemoryClient {
  override list<T extends KubeObject>(
    of: Resource<T>,
    { labelSelector = '' }: ListOptions = {},
  ): Promise<KubeList<Stored<T>>> {
    const selector = parseLabelSelector(labelSelector);
    const items = [...this.objects.values()].filter(
      ({ kind, metadata }) => kind === of.kind && matchesLabels(selector, metadata.labels),
    );
    const list = { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '1' }, items };
    return Promise.resolve(list as unknown as KubeList<Stored<T>>);
  }

  override listMetadata(of: Resource = JOBSETS): never {
    // Whole objects are metadata, and more.
    return this.list(of) as never;
  }
}

let client: Cluster;
let clock: VirtualClock;
let printed: string[];
let warned: string[];

beforeEach(() => {
  client = new Cluster();
  clock = new VirtualClock();
  printed = [];
  warned = [];
});

function optionsOf(flags: Partial<InstallFlags> = {}): InstallOptions {
  const parsed = parseInstallFlags({ namespace: 'lockstep-system', ...flags }, '1.2.3');
  if ('errors' in parsed) throw new Error(parsed.errors.join());
  return parsed.options;
}

function context(serverVersion = '1.36.3'): CommandContext {
  return {
    client,
    serverVersion,
    clock,
    signal: new AbortController().signal,
    print: (line) => printed.push(line),
    warn: (line) => warned.push(line),
  };
}

/** What a cluster makes of an installation. */
async function bringUp(options = optionsOf()): Promise<void> {
  for (const { of, object } of manifest(options.settings)) await client.create(of, object);
  await becomeReady(options);
}

async function becomeReady(options = optionsOf()): Promise<void> {
  const patch = (of: Parameters<MemoryClient['patch']>[0], name: string, body: object) =>
    client.patch(
      of,
      { namespace: of.namespaced ? 'lockstep-system' : '', name },
      {
        type: 'merge',
        patch: body,
      },
    );
  await patch(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD.metadata.name ?? '', {
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  });
  await patch(DEPLOYMENTS, 'lockstep-operator', {
    status: { replicas: 2, updatedReplicas: 2, availableReplicas: 2 },
  });
  await client.create(LEASES, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'lockstep-system', name: LEADER_ELECTION_ID },
    spec: { holderIdentity: 'a', renewTime: timestamp(clock), leaseDurationSeconds: 15 },
  });
  for (const of of [MUTATING_WEBHOOK_CONFIGURATIONS, VALIDATING_WEBHOOK_CONFIGURATIONS]) {
    const found = manifest(options.settings).find((one) => one.of.kind === of.kind);
    const name = found?.object.metadata.name ?? '';
    const { webhooks = [] } = await client.get(of, { name });
    const trusting = webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { ...webhook.clientConfig, caBundle: 'x' },
    }));
    await patch(of, name, { webhooks: trusting });
  }
}

describe('lockstep status', () => {
  test('says that all is well', async () => {
    await bringUp();
    expect(await status(context(), optionsOf())).toBe(0);
    expect(printed).toEqual([
      'objects: ok',
      'JobSet API: ok',
      'operator: ok',
      'leader: ok',
      'webhooks: ok',
    ]);
  });

  test('says that nothing is installed, and what to do', async () => {
    expect(await status(context(), optionsOf())).toBe(1);
    expect(printed).toEqual(['objects: Lockstep is not installed: run "lockstep install"']);
  });

  test('names what is missing, why Pods do not run, and who led', async () => {
    await bringUp();
    await client.delete(DEPLOYMENTS, { namespace: 'lockstep-system', name: 'lockstep-operator' });
    await clock.advance(60_000);
    expect(await status(context(), optionsOf())).toBe(1);
    expect(printed[0]).toBe(
      'objects: missing: Deployment lockstep-system/lockstep-operator: run "lockstep install" again',
    );
    expect(printed[2]).toBe('operator: there is no Deployment');
    expect(printed[3]).toMatch(/^leader: a led until .*, and nobody does now$/);
  });

  test('tells what the Pods of the operator wait for, once', async () => {
    await bringUp();
    const at = { namespace: 'lockstep-system', name: 'lockstep-operator' };
    const behind = { status: { replicas: 2, updatedReplicas: 2, availableReplicas: 0 } };
    await client.patch(DEPLOYMENTS, at, { type: 'merge', patch: behind });
    const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
    for (const name of ['a', 'b']) {
      await client.create(PODS, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          namespace: 'lockstep-system',
          name,
          labels: {
            'app.kubernetes.io/name': 'lockstep',
            'app.kubernetes.io/component': 'operator',
          },
        },
        spec: { containers: [] },
        status: {
          containerStatuses: [
            {
              name: 'operator',
              ready: false,
              restartCount: 0,
              image: '',
              imageID: '',
              state: { waiting },
            },
          ],
        },
      });
    }
    await status(context(), optionsOf());
    expect(printed[2]).toBe(
      'operator: 0 of 2 replicas are available; ImagePullBackOff: no such image',
    );
  });
});

describe('before an installation', () => {
  const look = (version?: string, flags: Partial<InstallFlags> = {}) =>
    preflight({
      ...context(version),
      objects: [],
      replaceCrd: optionsOf(flags).replaceCrd,
    });

  const UPSTREAMS_CRD = {
    ...JOBSET_CRD,
    spec: { ...JOBSET_CRD.spec, versions: [{ name: 'v1alpha2', served: true, storage: true }] },
  };

  test('a server that is too old is refused', async () => {
    expect((await look('1.29.14')).problems).toEqual([
      'the API server is of Kubernetes 1.29.14, and 1.30 or later is needed',
    ]);
    expect((await look('1.34.4')).warnings).toEqual([
      expect.stringContaining('lockstep/restart-mode: Supervisor'),
    ]);
    expect(await look('1.36.3')).toEqual({ problems: [], warnings: [] });
  });

  test('the controller of upstream is not to act on the same JobSets', async () => {
    const metadata = { namespace: 'jobset-system', name: 'jobset-controller-manager' };
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata };
    await client.create(DEPLOYMENTS, { ...deployment, status: { replicas: 1 } });
    const [problem] = (await look()).problems;
    expect(problem).toContain(
      'kubectl -n jobset-system scale deployment jobset-controller-manager',
    );
    const scaled = { type: 'merge', patch: { status: {} } } as const;
    await client.patch(DEPLOYMENTS, metadata, scaled);
    expect((await look()).problems).toEqual([]);
  });

  test('nor is one that came with a chart, under a name of its own; its webhooks go too', async () => {
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
    await client.create(DEPLOYMENTS, { ...deployment, status: { replicas: 2 } });
    await client.create(MUTATING_WEBHOOK_CONFIGURATIONS, webhooks);
    expect((await look()).problems).toEqual([
      'the controller of kubernetes-sigs/jobset runs in this cluster (Deployment ml/mine-jobset-controller), and two would act on the same JobSets: run "kubectl -n ml scale deployment mine-jobset-controller --replicas=0", "kubectl delete mutatingwebhookconfiguration mine-jobset-mutating"; JobSets and their Pods stay',
    ]);
    await client.delete(DEPLOYMENTS, deployment.metadata);
    expect((await look()).problems).toEqual([
      expect.stringMatching(/^webhooks of .*, which does not run, would refuse every JobSet: run /),
    ]);
  });

  test('the definition of upstream is replaced only if that is asked for', async () => {
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, UPSTREAMS_CRD);
    expect((await look()).problems).toEqual([expect.stringContaining('--replace-crd')]);
    expect((await look('1.36.3', { replaceCrd: true })).problems).toEqual([]);
  });

  test('JobSets that are stored in another version stop it', async () => {
    const stored = { ...UPSTREAMS_CRD, status: { storedVersions: ['v1alpha1', 'v1alpha2'] } };
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, stored);
    expect((await look('1.36.3', { replaceCrd: true })).problems).toEqual([
      expect.stringMatching(/has stored JobSets as v1alpha1, .* migrate them to v1alpha2 first/),
    ]);
  });

  test('a definition of ours is no problem', async () => {
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD);
    expect((await look()).problems).toEqual([]);
  });

  test.each([
    [
      failure('Forbidden', 'x is forbidden: User "eve" cannot patch resource "x"'),
      /^lockstep: eve may not make Namespace .*, Deployment .*cluster-admin\)$/,
    ],
    [
      unsupportedMediaType(['application/json-patch+json']),
      /no server-side apply, as the embedded one of "lockstep up"/,
    ],
  ])('what is refused is told in one message, and nothing is made: %s', async (error, expected) => {
    const made: string[] = [];
    client.before = (verb, path) => {
      if (verb !== 'PATCH') return;
      made.push(path);
      throw error;
    };
    expect(await install(context(), optionsOf())).toBe(1);
    expect(warned).toHaveLength(1);
    expect(`lockstep: ${warned[0]}`).toMatch(expected);
    expect(made).toHaveLength(manifest(optionsOf().settings).length);
    expect(printed).toEqual([]);
  });
});

describe('lockstep install', () => {
  test('applies everything and waits until it is ready', async () => {
    const running = install(context(), optionsOf());
    await clock.advance(5_000);
    expect(printed.at(-1)).toMatch(/^waiting for JobSet API: not served yet; operator: 0 of 1/);
    await becomeReady();
    await clock.advance(1_000);
    expect(await running).toBe(0);
    expect(printed.at(-1)).toBe('Lockstep 1.2.3 is ready');
    expect(printed).toHaveLength(manifest(optionsOf().settings).length + 2);
  });

  test('takes the webhooks of an earlier installation away where there are to be none', async () => {
    await bringUp();
    const off = optionsOf({ webhooks: 'off' });
    expect(await install(context(), off)).toBe(0);
    expect(printed.slice(0, 3)).toEqual([
      'ValidatingWebhookConfiguration lockstep-validating-webhook-configuration deleted',
      'MutatingWebhookConfiguration lockstep-mutating-webhook-configuration deleted',
      'Service lockstep-system/lockstep-webhook-service deleted',
    ]);
    printed.splice(0);
    expect(await status(context(), optionsOf()), 'which status sees by itself').toBe(0);
    expect(printed.map((line) => line.split(':')[0])).not.toContain('webhooks');
    expect(await status(context(), optionsOf({ webhooks: 'on' }))).toBe(1);
  });

  test('leaves a namespace as it is that was there before', async () => {
    const metadata = { name: 'lockstep-system', labels: { team: 'ml' } };
    await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata });
    const running = install(context(), optionsOf());
    await clock.advance(2_000);
    await becomeReady();
    await clock.advance(2_000);
    expect(await running).toBe(0);
    expect(printed[0]).toBe('Namespace lockstep-system is there already, and stays as it is');
    expect((await client.get(NAMESPACES, metadata)).metadata.labels).toEqual({ team: 'ml' });
    printed.splice(0);
    await uninstall(context(), { ...optionsOf(), deleteJobSets: false });
    expect(printed).toContain('Namespace lockstep-system stays: it is not of Lockstep');
    expect(await client.get(NAMESPACES, metadata)).toMatchObject({ kind: 'Namespace' });
    const lease = client.get(LEASES, { namespace: metadata.name, name: LEADER_ELECTION_ID });
    await expect(lease, 'what the operator made goes too').rejects.toThrow('not found');
  });

  test('is refused beside an installation in another namespace, as are status and uninstall', async () => {
    await bringUp();
    const elsewhere = optionsOf({ namespace: 'other' });
    expect(await install(context(), elsewhere)).toBe(1);
    expect(await status(context(), elsewhere)).toBe(1);
    expect(await uninstall(context(), { ...elsewhere, deleteJobSets: true })).toBe(1);
    expect(new Set(warned)).toEqual(
      new Set([
        'Lockstep is installed in namespace lockstep-system, not in other: say --namespace lockstep-system, or uninstall it there first',
      ]),
    );
    expect(printed).toEqual([]);
    expect(await status(context(), optionsOf())).toBe(0);
  });

  test('gives up after its time-out, and says what is missing', async () => {
    let code: number | undefined;
    void install(context(), optionsOf({ timeout: '5' })).then((ended) => {
      code = ended;
    });
    await clock.runUntil(() => code !== undefined, 60_000);
    expect(code).toBe(1);
    expect(warned.slice(0, 3)).toEqual([
      'not ready after 5 s:',
      '  JobSet API: not served yet',
      '  operator: 0 of 1 replicas are available',
    ]);
  });
});

describe('lockstep uninstall', () => {
  test('removes everything but the JobSets and their definition', async () => {
    await bringUp();
    const options = { ...optionsOf(), deleteJobSets: false };
    expect(await uninstall(context(), options)).toBe(0);
    const left: string[] = [];
    for (const { of, object } of manifest(options.settings)) {
      const found = await client.get(of, keyOf(object)).catch(() => undefined);
      if (found !== undefined) left.push(of.kind);
    }
    expect(left).toEqual(['CustomResourceDefinition']);
    expect(printed[0]).toMatch(/^ValidatingWebhookConfiguration .* deleted$/);
    expect(printed).toContain(
      'CustomResourceDefinition jobsets.jobset.x-k8s.io stays, with no JobSets; --delete-jobsets removes both',
    );
    expect(printed.at(-1)).toBe('Lockstep is gone');
    printed.splice(0);
    expect(await uninstall(context(), options), 'once more').toBe(0);
    expect(printed.at(-1)).toBe('Lockstep is not installed');
    await status(context(), optionsOf());
    expect(printed.at(-1)).toMatch(/^objects: Lockstep is not installed/);
  });

  test('says how many JobSets go, or stay', async () => {
    await bringUp();
    for (const name of ['a', 'b']) {
      const metadata = { namespace: 'default', name };
      await client.create(JOBSETS, {
        apiVersion: 'jobset.x-k8s.io/v1alpha2',
        kind: 'JobSet',
        metadata,
        spec: {},
      });
    }
    const options = optionsOf({ dryRun: true });
    for (const deleteJobSets of [false, true])
      await uninstall(context(), { ...options, deleteJobSets });
    expect(printed.filter((line) => line.includes('JobSets'))).toEqual([
      expect.stringMatching(/ stays, with 2 JobSets; --delete-jobsets removes both$/),
      expect.stringMatching(/ would be deleted, with 2 JobSets$/),
    ]);
  });

  test('touches nothing that only has the name of ours', async () => {
    const crd = {
      ...JOBSET_CRD,
      spec: { ...JOBSET_CRD.spec, versions: [{ name: 'v1alpha2', served: true, storage: true }] },
    };
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, crd);
    expect(await uninstall(context(), { ...optionsOf(), deleteJobSets: true })).toBe(0);
    expect(printed).toEqual([
      'CustomResourceDefinition jobsets.jobset.x-k8s.io stays: it is not of Lockstep',
      'Lockstep is not installed',
    ]);
  });

  test('waits for the JobSets that go with their definition, until its time-out', async () => {
    await bringUp();
    // A definition stays until the last of its objects has gone.
    const remove = client.delete.bind(client);
    client.delete = (of, at) =>
      of.kind === 'CustomResourceDefinition' ? Promise.resolve() : remove(of, at);
    let code: number | undefined;
    const options = { ...optionsOf({ timeout: '5' }), deleteJobSets: true };
    void uninstall(context(), options).then((ended) => {
      code = ended;
    });
    await clock.runUntil(() => code !== undefined, 60_000);
    expect(code).toBe(1);
    expect(warned).toEqual([
      'CustomResourceDefinition jobsets.jobset.x-k8s.io is still being deleted after 5 s',
    ]);
  });

  test('removes nothing in a dry run', async () => {
    await bringUp();
    expect(
      await uninstall(context(), { ...optionsOf({ dryRun: true }), deleteJobSets: true }),
    ).toBe(0);
    expect(await status(context(), optionsOf())).toBe(0);
  });
});

test.each<[Partial<InstallFlags>, string]>([
  [{ namespace: 'A' }, '--namespace is "A"'],
  [{ webhooks: 'maybe' }, '--webhooks is "maybe", allowed are on, off'],
  [{ timeout: '0' }, '--timeout is "0", allowed are seconds from 1 to 3600'],
  [{ output: 'json' }, '--output is "json", allowed is yaml'],
  [{ agentImage: 'a b' }, '--agent-image is "a b"'],
])('a wrong flag is told: %j', (flags, expected) => {
  const parsed = parseInstallFlags({ namespace: 'n', ...flags }, '1');
  expect(parsed).toEqual({ errors: [expect.stringContaining(expected)] });
});
