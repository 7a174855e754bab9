/** The operator's webhooks as an API server meets them. */
import { isDeepStrictEqual } from 'node:util';

import type { Stored } from '@lockstep/kube/meta.ts';
import {
  MUTATING_WEBHOOK_CONFIGURATIONS,
  type MutatingWebhookConfiguration,
  VALIDATING_WEBHOOK_CONFIGURATIONS,
  type ValidatingWebhookConfiguration,
} from '@lockstep/kube/objects/admission-webhooks.ts';
import { PERSISTENT_VOLUME_CLAIMS, SECRETS } from '@lockstep/kube/objects/core.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { createCertificateAuthority } from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { ApiStatusError } from '@lockstep/kube/status.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { DEFAULT_FEATURE_GATES } from '../../src/jobset/feature-gates.ts';
import {
  JOBSETS,
  type JobSet,
  type JobSetSpec,
  type ReplicatedJob,
} from '../../src/jobset/jobset.ts';
import { ownerReferenceTo } from '../../src/jobset/membership.ts';
import { certificatesIn, secretOf } from '../../src/operator/certificates/certificate-secret.ts';
import {
  planCertificates,
  type WebhookCertificates,
} from '../../src/operator/certificates/certificates.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { EXCEPTIONS } from '../kubernetes.ts';
import { HOST, WebhookReplicas } from './webhook-replicas.fixture.ts';

const DAY_MS = 86_400_000;
const SECRET = { namespace: 'default', name: 'certificates' };
const MUTATING = { name: 'lockstep-mutating-webhook-configuration' };
const VALIDATING = { name: 'lockstep-validating-webhook-configuration' };

let world: WebhookReplicas;
let names = 0;
afterEach(() => world.stop());

function jobSet(spec: JobSetSpec, metadata: Partial<JobSet['metadata']> = {}): JobSet {
  return {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name: `set-${names++}`, namespace: 'default', ...metadata },
    spec,
  };
}

function withRequest(cpu: unknown): ReplicatedJob {
  const { template, ...job } = replicatedJob('w');
  const { template: pod, ...rest } = template.spec;
  const resources = { requests: { cpu: cpu as string } };
  const containers = pod.spec.containers.map((container) => ({ ...container, resources }));
  const spec = { ...rest, template: { ...pod, spec: { ...pod.spec, containers } } };
  return { ...job, template: { ...template, spec } };
}

const GOOD: JobSetSpec = { replicatedJobs: [replicatedJob('w')] };

/** Whether a JobSet passes admission now. */
async function isAdmitted(): Promise<true> {
  await world.client.create(JOBSETS, jobSet(GOOD));
  return true;
}

async function refusalOf(object: JobSet): Promise<ApiStatusError['status']> {
  const error: unknown = await world.client.create(JOBSETS, object).catch((reason) => reason);
  expect(error).toMatchObject({ name: 'ApiStatusError' });
  return (error as ApiStatusError).status;
}

async function trusted(): Promise<readonly string[]> {
  const secret = await world.client.get(SECRETS, SECRET);
  return certificatesIn(secret)?.authorities ?? [];
}

describe('JobSets', () => {
  test('may be applied again as they are, with a rule that has no name', async () => {
    world = await WebhookReplicas.start();
    await world.add();
    const rules = [{ name: '', action: 'FailJobSet' as const }];
    const applied = jobSet({ ...GOOD, failurePolicy: { rules } });
    const at = { namespace: 'default', name: applied.metadata.name ?? '' };
    const apply = { type: 'apply', patch: applied, fieldManager: 'trainer' } as const;
    const first = await world.client.patch(JOBSETS, at, apply);
    expect(first.spec.failurePolicy?.rules).toMatchObject([{ name: 'failurePolicyRule0' }]);
    const second = await world.client.patch(JOBSETS, at, apply);
    expect(second.metadata.generation).toBe(first.metadata.generation);
  });

  test('may ask for half a processor without quotes, however they are written', async () => {
    world = await WebhookReplicas.start();
    await world.add();
    const half: unknown = 0.5;
    const asking = (cpu: unknown): JobSetSpec => ({ replicatedJobs: [withRequest(cpu)] });
    const asked = ({ spec }: JobSet): unknown =>
      spec.replicatedJobs?.[0]?.template.spec.template.spec.containers[0]?.resources;
    const text = { requests: { cpu: '500m' } };
    const created = await world.client.create(JOBSETS, jobSet(asking(half)));
    expect(asked(created)).toEqual(text);
    const updated = await world.client.update(JOBSETS, { ...created, spec: asking(half) });
    expect(asked(updated)).toEqual(text);
    const applied = jobSet(asking(half));
    const at = { namespace: 'default', name: applied.metadata.name ?? '' };
    const apply = { type: 'apply', patch: applied, fieldManager: 'trainer' } as const;
    const first = await world.client.patch(JOBSETS, at, apply);
    expect(asked(first)).toEqual(text);
    expect((await world.client.patch(JOBSETS, at, apply)).metadata.generation).toBe(1);
  });

  test('are stored with the defaults of admission', async () => {
    world = await WebhookReplicas.start();
    await world.add();
    const created = await world.client.create(JOBSETS, jobSet(GOOD));
    expect(created.spec).toMatchObject({
      network: { enableDNSHostnames: true, publishNotReadyAddresses: true },
      successPolicy: { operator: 'All' },
      startupPolicy: { startupPolicyOrder: 'AnyOrder' },
      replicatedJobs: [
        {
          groupName: 'default',
          template: {
            spec: { completionMode: 'Indexed', template: { spec: { restartPolicy: 'OnFailure' } } },
          },
        },
      ],
    });
  });

  test('are refused with all causes at once, as 422', async () => {
    world = await WebhookReplicas.start();
    await world.add();
    const spec: JobSetSpec = {
      ...GOOD,
      successPolicy: { operator: 'All', targetReplicatedJobs: ['nobody'] },
      failurePolicy: {
        rules: [
          { name: 'r', action: 'FailJobSet', onJobFailureMessagePatterns: ['('] },
          { name: 's', action: 'FailJobSet', onJobFailureMessagePatterns: ['ok', '*'] },
        ],
      },
    };
    const status = await refusalOf(
      jobSet(spec, { annotations: { 'lockstep/restart-mode': 'Both' } }),
    );
    expect(status).toMatchObject({ code: 422, reason: 'Invalid', details: { kind: 'JobSet' } });
    expect(status.details?.causes?.map(({ field }) => field)).toEqual([
      'spec.successPolicy.targetReplicatedJobs[0]',
      'spec.failurePolicy.rules[0].onJobFailureMessagePatterns[0]',
      'spec.failurePolicy.rules[1].onJobFailureMessagePatterns[1]',
      'metadata.annotations[lockstep/restart-mode]',
    ]);
    expect(status.message).toContain('admission webhook "mjobset.kb.io" denied the request: ');
  });

  test('may not be changed where the API says so', async () => {
    world = await WebhookReplicas.start();
    await world.add();
    const created = await world.client.create(JOBSETS, jobSet(GOOD));
    const changed = { ...created, spec: { ...created.spec, replicatedJobs: [replicatedJob('v')] } };
    await expect(world.client.update(JOBSETS, changed)).rejects.toMatchObject({
      status: {
        code: 422,
        details: { causes: [{ field: 'spec.replicatedJobs', reason: 'FieldValueInvalid' }] },
      },
    });
    const suspended = { ...created, spec: { ...created.spec, suspend: true } };
    expect((await world.client.update(JOBSETS, suspended)).spec.suspend).toBe(true);
  });

  test('are warned about fields that are valid but probably wrong', async () => {
    world = await WebhookReplicas.start();
    await world.add();
    const warned = jobSet({ ...GOOD, failurePolicy: { maxRestarts: -1 } });
    const { headers, status } = await world.cluster.send({
      method: 'POST',
      path: '/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(warned)),
      signal: new AbortController().signal,
    });
    expect(status).toBe(201);
    expect(headers['warning']).toContain('spec.failurePolicy.maxRestarts is -1');
  });

  test('may take a shared claim that is there only if it fits and is retained', async () => {
    world = await WebhookReplicas.start();
    await world.add();
    const spec = {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
    };
    await world.client.create(PERSISTENT_VOLUME_CLAIMS, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data-train', namespace: 'default' },
      spec,
    });
    const job = replicatedJob('w');
    const { template } = job.template.spec;
    const containers = template.spec.containers.map((container) => ({
      ...container,
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
    }));
    const mounting = {
      ...job,
      template: {
        ...job.template,
        spec: {
          ...job.template.spec,
          template: { ...template, spec: { ...template.spec, containers } },
        },
      },
    };
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data' },
      spec: { ...spec, resources: { requests: { storage: '2Gi' } } },
    };
    const status = await refusalOf(
      jobSet(
        { replicatedJobs: [mounting], volumeClaimPolicies: [{ templates: [claim] }] },
        { name: 'train' },
      ),
    );
    expect(status.details?.causes?.map(({ field }) => field)).toEqual([
      'spec.volumeClaimPolicies[0].template[0].spec',
      'spec.volumeClaimPolicies[0].retentionPolicy.whenDeleted',
    ]);
  });

  test('keep to the feature gates of the operator', async () => {
    world = await WebhookReplicas.start();
    await world.add(1, { ...DEFAULT_FEATURE_GATES, InPlaceRestart: false });
    const status = await refusalOf(
      jobSet({ ...GOOD, failurePolicy: { restartStrategy: 'InPlaceRestart' } }),
    );
    expect(status.message).toContain('InPlaceRestart feature gate is disabled');
  });
});

describe('Pods', () => {
  const pod = (annotations: Readonly<Record<string, string>>) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `pod-${names++}`,
      namespace: 'default',
      labels: {
        'jobset.sigs.k8s.io/jobset-name': 'train',
        'jobset.sigs.k8s.io/job-key': 'key',
      },
      annotations: { 'jobset.sigs.k8s.io/jobset-name': 'train', ...annotations },
    },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });
  const EXCLUSIVE = { 'alpha.jobset.sigs.k8s.io/exclusive-topology': 'rack' };
  const LEADER = { 'batch.kubernetes.io/job-completion-index': '0' };

  test('of a JobSet get their priority as a label, and exclusive leaders their affinities', async () => {
    world = await WebhookReplicas.start();
    await world.add();
    const plain = await world.client.create(PODS, pod({}));
    expect(plain.metadata.labels).toMatchObject({ 'jobset.sigs.k8s.io/priority': '0' });
    expect(plain.spec.affinity).toBeUndefined();
    const leader = await world.client.create(PODS, pod({ ...EXCLUSIVE, ...LEADER }));
    expect(leader.metadata.labels).toMatchObject({ 'jobset.sigs.k8s.io/priority': '0' });
    expect(leader.spec.affinity?.podAntiAffinity).toBeDefined();
    await expect(world.client.create(PODS, pod(EXCLUSIVE))).rejects.toMatchObject({
      message: expect.stringContaining('admission webhook "vpod.kb.io" denied the request'),
    });
  });

  test('depend on the operator only if they are exclusive', async () => {
    world = await WebhookReplicas.start();
    await world.add();
    for (const replica of world.replicas) replica.handler = undefined;
    const plain = await world.client.create(PODS, pod({}));
    expect(plain.metadata.labels).not.toHaveProperty('jobset.sigs.k8s.io/priority');
    await expect(world.client.create(PODS, pod({ ...EXCLUSIVE, ...LEADER }))).rejects.toMatchObject(
      { code: 500, message: expect.stringContaining('mpod.kb.io') },
    );
    const bySelector = { 'alpha.jobset.sigs.k8s.io/node-selector': 'true' };
    await world.client.create(PODS, pod({ ...EXCLUSIVE, ...bySelector }));
  });
});

describe('Pods of a group that has left a node', () => {
  const LEFT = {
    time: '2026-01-01T00:00:00Z',
    reason: 'failed there 3 times in 1h',
    pod: 'train-w-0-0-abcde',
    worker: 'worker 0 of w',
  };
  const AWAY = {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 100,
          preference: {
            matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['bad'] }],
          },
        },
      ],
    },
  };

  async function leaving(name: string, ...nodes: string[]): Promise<Stored<JobSet>> {
    const created = await world.client.create(JOBSETS, jobSet(GOOD, { name }));
    const avoidedNodes = nodes.map((node) => ({ ...LEFT, node }));
    const next = { ...created, status: { avoidedNodes } };
    return world.client.update(JOBSETS, next, { subresource: 'status' });
  }

  function jobOf(owner: Stored<JobSet>): Promise<Stored<Job>> {
    return world.client.create(JOBS, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: `${owner.metadata.name}-w-0`,
        namespace: 'default',
        ownerReferences: [ownerReferenceTo({ ...owner.metadata, namespace: 'default' })],
      },
      spec: { template: { spec: { restartPolicy: 'Never', containers: CONTAINERS } } },
    });
  }

  /** With the labels of one JobSet and the Job of another, or none. */
  async function affinityOf(
    labelled: Stored<JobSet>,
    job?: Pick<Stored<Job>, 'metadata'>,
    namespace = 'default',
  ): Promise<unknown> {
    const owner = { apiVersion: 'batch/v1', kind: 'Job', controller: true };
    const { name = '', uid = '' } = job?.metadata ?? {};
    const { spec } = await world.client.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `pod-${names++}`,
        namespace,
        labels: {
          'lockstep/replace-after': 'true',
          'jobset.sigs.k8s.io/jobset-name': labelled.metadata.name,
          'jobset.sigs.k8s.io/jobset-uid': labelled.metadata.uid,
        },
        ...(job === undefined ? {} : { ownerReferences: [{ ...owner, name, uid }] }),
      },
      spec: { containers: CONTAINERS },
    });
    return spec.affinity;
  }
  const CONTAINERS = [{ name: 'c', image: 'i' }];
  const arrival = () => world.cluster.calm(1000);

  test('prefer every other node, as long as the operator answers', async () => {
    world = await WebhookReplicas.start();
    await world.add();
    const train = await leaving('train', 'bad');
    const job = await jobOf(train);
    await arrival();
    expect(await affinityOf(train, job)).toEqual(AWAY);
    for (const replica of world.replicas) replica.handler = undefined;
    expect(await affinityOf(train, job)).toBeUndefined();
  });

  test('learn of it though their Job is newer than what a replica has seen', async () => {
    world = await WebhookReplicas.start();
    await world.add();
    const [train, other] = [await leaving('train', 'bad'), await leaving('other')];
    await arrival();
    for (const { caches } of world.replicas) await caches.informers.jobs.stop();
    const [job, strange] = [await jobOf(train), await jobOf(other)];
    expect(await affinityOf(train, job)).toEqual(AWAY);
    expect(await affinityOf(train, strange)).toBeUndefined();
    const made = { metadata: { ...job.metadata, uid: 'another-uid' } };
    expect(await affinityOf(train, made)).toBeUndefined();
  });

  test('come from its own Jobs: no label and no owner of another tells a Pod more', async () => {
    world = await WebhookReplicas.start();
    await world.add();
    await world.cluster.createNamespace('tenant');
    const [train, other] = [await leaving('train', 'bad'), await leaving('other')];
    const [job, others] = [await jobOf(train), await jobOf(other)];
    await arrival();
    expect(await affinityOf(train)).toBeUndefined();
    expect(await affinityOf(train, others)).toBeUndefined();
    expect(await affinityOf(train, job, 'tenant')).toBeUndefined();
    expect(await affinityOf(other, job)).toEqual(AWAY);
  });

  test('are made although a node in the status has a name that no node can have', async () => {
    world = await WebhookReplicas.start();
    await world.add();
    const train = await leaving('train', 'No such/node', '', 'bad');
    const job = await jobOf(train);
    await arrival();
    expect(await affinityOf(train, job)).toEqual(AWAY);
  });
});

/** Once it is there. */
async function published(): Promise<Stored<MutatingWebhookConfiguration>> {
  const of = MUTATING_WEBHOOK_CONFIGURATIONS;
  await world.cluster.until(() => world.cluster.exists(of, MUTATING.name));
  return world.client.get(of, MUTATING);
}

/** Without the address, which may be another one after a start. */
function rulesOf({ webhooks = [] }: Stored<MutatingWebhookConfiguration>): readonly object[] {
  return webhooks.map((webhook) => {
    const { clientConfig: _, ...rules } = webhook;
    return rules;
  });
}

describe('what is published', () => {
  test('is repaired when it was deleted or overwritten, and else left as people want it', async () => {
    world = await WebhookReplicas.start();
    await world.add();
    const { client, cluster } = world;
    await client.delete(MUTATING_WEBHOOK_CONFIGURATIONS, MUTATING);
    const validating = await client.get(VALIDATING_WEBHOOK_CONFIGURATIONS, VALIDATING);
    const [jobSets, pods] = validating.webhooks ?? [];
    if (jobSets === undefined || pods === undefined) throw new Error('no webhooks');
    await client.update(VALIDATING_WEBHOOK_CONFIGURATIONS, {
      ...validating,
      webhooks: [
        {
          ...jobSets,
          failurePolicy: 'Ignore',
          clientConfig: { ...jobSets.clientConfig, caBundle: otherAuthority() },
        },
      ],
    });
    const repaired = [{ ...jobSets, failurePolicy: 'Ignore' }, pods];
    await cluster.until(async () => {
      const { webhooks } = await client.get(VALIDATING_WEBHOOK_CONFIGURATIONS, VALIDATING);
      return isDeepStrictEqual(webhooks, repaired);
    });
    const { webhooks } = await published();
    expect(webhooks?.map(({ name }) => name)).toEqual([
      'mjobset.kb.io',
      'mpod.kb.io',
      'mpodpriority.kb.io',
      'mpodnodes.kb.io',
    ]);
    await cluster.until(isAdmitted);
  });

  test.skipIf(EXCEPTIONS.timeIsReal)('is not fought over faster than once a second', async () => {
    world = await WebhookReplicas.start();
    await world.add();
    const { client, cluster } = world;
    const of = VALIDATING_WEBHOOK_CONFIGURATIONS;
    const ours = (await client.get(of, VALIDATING)).webhooks ?? [];
    let overwritten = 0;
    const theirs = otherAuthority();
    const { clock, random } = cluster;
    const another = createInformer({ client, resource: of, clock, random, logger: SILENT });
    const overwrite = (configuration: Stored<ValidatingWebhookConfiguration>): void => {
      const { webhooks = [] } = configuration;
      if (webhooks.every(({ clientConfig }) => clientConfig.caBundle === theirs)) return;
      overwritten++;
      const changed = webhooks.map((one) => ({
        ...one,
        clientConfig: { ...one.clientConfig, caBundle: theirs },
      }));
      client.update(of, { ...configuration, webhooks: changed }).catch(() => undefined);
    };
    another.subscribe({ added: overwrite, updated: overwrite });
    await cluster.pass(20_000);
    await another.stop();
    expect(overwritten).toBeGreaterThan(10);
    expect(overwritten).toBeLessThan(25);
    await cluster.pass(5_000);
    expect((await client.get(of, VALIDATING)).webhooks).toEqual(ours);
  });

  test('is brought up to date when the operator starts', async () => {
    world = await WebhookReplicas.start();
    await world.add();
    for (const { webhooks } of world.replicas.splice(0)) await webhooks.stop();
    const { client } = world;
    const before = await published();
    const outdated = before.webhooks?.slice(0, 1).map((one) => ({ ...one, timeoutSeconds: 1 }));
    await client.update(MUTATING_WEBHOOK_CONFIGURATIONS, { ...before, webhooks: outdated ?? [] });
    await world.add();
    expect(rulesOf(await published())).toEqual(rulesOf(before));
  });
});

/** What a person might write into a `caBundle`. */
function otherAuthority(): string {
  const clock = new VirtualClock();
  const { certificate } = createCertificateAuthority({ commonName: 'other', clock });
  return Buffer.from(certificate).toString('base64');
}

describe.skipIf(EXCEPTIONS.replicasAreCalledOneByOne)('certificates', () => {
  test('are the same for all replicas, which start at the same time', async () => {
    world = await WebhookReplicas.start();
    await world.add(3);
    expect(new Set(world.replicas.map(({ pair }) => pair?.certificate)).size).toBe(1);
    expect(await trusted()).toHaveLength(1);
    for (let i = 0; i < 6; i++) expect(await isAdmitted()).toBe(true);
  });

  test('change their authority without a call that fails', async () => {
    world = await WebhookReplicas.start();
    const { client, cluster } = world;
    const old = agedCertificates(cluster.clock.now());
    await client.create(SECRETS, secretOf(SECRET, old));
    await world.add(2);
    const [first] = await trusted();
    expect(await trusted()).toEqual([first, ...old.authorities]);
    for (const replica of world.replicas) expect(replica.pair).toEqual(old.serving);
    for (let minute = 0; minute < 60; minute++) {
      await cluster.pass(60_000);
      for (const _ of world.replicas) expect(await isAdmitted()).toBe(true);
    }
    for (const replica of world.replicas) expect(replica.pair).not.toEqual(old.serving);
    expect(await trusted()).toEqual([first, ...old.authorities]);
  });

  test('are made again when their Secret is deleted', async () => {
    world = await WebhookReplicas.start();
    await world.add(2);
    const before = await trusted();
    await world.client.delete(SECRETS, SECRET);
    await world.cluster.pass(5_000);
    expect(await trusted()).not.toEqual(before);
    for (const _ of world.replicas) expect(await isAdmitted()).toBe(true);
  });
});

/** Certificates that are valid for long enough, of an authority that has to be replaced now. */
function agedCertificates(nowMs: number): WebhookCertificates {
  const planned = (daysAgo: number, held?: WebhookCertificates): WebhookCertificates => {
    const clock = new VirtualClock(nowMs - daysAgo * DAY_MS);
    const needs = { hosts: [HOST], clock, isTrusted: () => true };
    return planCertificates(held, needs).certificates;
  };
  return planned(10, planned(555));
}
