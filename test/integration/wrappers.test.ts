/**
 * Annotations that stand for fields, and defaults of a Namespace, as wrappers and teams meet them:
 * with the webhooks, which write what counts into the JobSet, and without them, where the controller
 * records it.
 */

import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import { NAMESPACES } from '@lockstep/kube/objects/core.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import type { ApiStatusError } from '@lockstep/kube/status.ts';
import { forbidden } from '@lockstep/kube/status-errors.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { JOBSETS, type JobSet, type JobSetSpec } from '../../src/jobset/jobset.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { definitionWithout } from '../fixtures/older-definition.ts';
import { GroupUnderTest } from './group-under-test.fixture.ts';
import { WebhookReplicas } from './webhook-replicas.fixture.ts';

const STRATEGY = 'lockstep/restart-strategy';
const MAX = 'lockstep/max-restarts';
const CALM_MS = 30_000;
/** What Trainer's definition fills in. */
const RECREATE = { restartStrategy: 'Recreate' } as const;
const SPEC: JobSetSpec = { replicatedJobs: [replicatedJob('w', 2)], failurePolicy: RECREATE };
const ASKS_IN_PLACE = { [STRATEGY]: 'InPlaceRestart', [MAX]: '10' };

async function annotateNamespace(client: Client, annotations: StringMap): Promise<void> {
  const at = { name: 'default' };
  const patch = { metadata: { annotations } };
  await client.patch(NAMESPACES, at, { type: 'merge', patch }).catch(async () => {
    const metadata = { ...at, annotations };
    await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata });
  });
}

describe('with webhooks', () => {
  const at = { namespace: 'default', name: 'llm' };
  let world: WebhookReplicas;
  afterEach(() => world.stop());

  async function begin(ofNamespace: StringMap = {}): Promise<void> {
    world = await WebhookReplicas.start();
    await annotateNamespace(world.client, ofNamespace);
    await world.add();
  }

  function jobSet(annotations: StringMap, spec: JobSetSpec = SPEC): JobSet {
    const metadata = { ...at, annotations };
    return { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', metadata, spec };
  }

  const apply = (
    annotations: StringMap,
    spec?: JobSetSpec,
    manager = 'trainer',
  ): Promise<Stored<JobSet>> =>
    world.client.patch(JOBSETS, at, {
      type: 'apply',
      patch: jobSet(annotations, spec),
      fieldManager: manager,
    });

  async function refusalOf(request: Promise<unknown>): Promise<readonly string[]> {
    const error: unknown = await request.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'ApiStatusError' });
    const { details } = (error as ApiStatusError).status;
    return details?.causes?.map(({ field }) => field ?? '') ?? [];
  }

  const ownsPolicy = (stored: Stored<JobSet>): boolean =>
    (stored.metadata.managedFields ?? []).some(({ fieldsV1 }) =>
      JSON.stringify(fieldsV1).includes('f:restartStrategy'),
    );

  test('the annotations become fields, and the Jobs fit them', async () => {
    await begin();
    const { spec } = await world.client.create(JOBSETS, jobSet(ASKS_IN_PLACE));
    expect(spec.failurePolicy).toEqual({ restartStrategy: 'InPlaceRestart', maxRestarts: 10 });
    expect(spec.replicatedJobs?.[0]?.template.spec).toMatchObject({
      podReplacementPolicy: 'Failed',
    });
  });

  test.each<[string, JobSetSpec, boolean]>([
    ['that says Recreate', SPEC, true],
    ['without a failure policy', { replicatedJobs: [replicatedJob('w', 2)] }, false],
  ])('a wrapper applies its manifest %s again, and changes nothing', async (_, spec, owns) => {
    await begin();
    const first = await apply(ASKS_IN_PLACE, spec);
    expect(first.spec.failurePolicy).toEqual({
      restartStrategy: 'InPlaceRestart',
      maxRestarts: 10,
    });
    expect(ownsPolicy(first)).toBe(owns);
    const second = await apply(ASKS_IN_PLACE, spec);
    expect(second.metadata.managedFields).toEqual(first.metadata.managedFields);
    // The first change of an object also stores the defaults of what was not there.
    expect(await apply(ASKS_IN_PLACE, spec)).toEqual(second);
  });

  test('a wrapper that stops to send the policy, or updates the whole object, changes nothing', async () => {
    await begin();
    const first = await apply(ASKS_IN_PLACE);
    const { failurePolicy: _, ...others } = SPEC;
    const second = await apply(ASKS_IN_PLACE, others);
    expect(second.spec.failurePolicy).toEqual(first.spec.failurePolicy);
    const third = await world.client.update(JOBSETS, {
      ...second,
      spec: { ...second.spec, failurePolicy: { restartStrategy: 'Recreate', maxRestarts: 10 } },
    });
    expect(third.spec.failurePolicy).toEqual(first.spec.failurePolicy);
    expect(third.metadata.generation).toBe(first.metadata.generation);
  });

  test.each<[string, StringMap, string]>([
    ['changed', { ...ASKS_IN_PLACE, [MAX]: '11' }, MAX],
    ['taken away', { [STRATEGY]: 'InPlaceRestart' }, MAX],
    ['changed, with the strategy', { [STRATEGY]: 'Recreate', [MAX]: '10' }, STRATEGY],
  ])('an annotation that is %s later is refused with its key', async (_, annotations, key) => {
    await begin();
    await apply(ASKS_IN_PLACE);
    expect(await refusalOf(apply(annotations))).toEqual([`metadata.annotations[${key}]`]);
  });

  test('a wrong value is refused', async () => {
    await begin();
    const wrong = { [STRATEGY]: 'in-place', [MAX]: '-1' };
    expect(await refusalOf(world.client.create(JOBSETS, jobSet(wrong)))).toEqual([
      `metadata.annotations[${STRATEGY}]`,
      `metadata.annotations[${MAX}]`,
    ]);
  });

  test('a JobSet gets the defaults of its Namespace once', async () => {
    await begin({
      ...ASKS_IN_PLACE,
      'lockstep/progress-timeout': '5m',
      'lockstep/keep-failed': '1h',
      'lockstep/restart-mode': 'Supervisor',
      'lockstep/stop-grace': 'long',
    });
    const first = await apply({ 'lockstep/keep-failed': 'Off' });
    expect(first.spec.failurePolicy).toEqual({
      restartStrategy: 'InPlaceRestart',
      maxRestarts: 10,
    });
    const effective = {
      ...ASKS_IN_PLACE,
      'lockstep/progress-timeout': '5m',
      'lockstep/keep-failed': 'Off',
      'lockstep/restart-mode': 'Supervisor',
    };
    expect(first.metadata.annotations).toEqual(effective);
    await annotateNamespace(world.client, { [MAX]: '2', 'lockstep/progress-timeout': '9m' });
    const second = await apply({ 'lockstep/keep-failed': 'Off' });
    expect([second.metadata.annotations, second.spec]).toEqual([effective, first.spec]);
    const own = await world.client.create(JOBSETS, {
      ...jobSet({ [STRATEGY]: 'Recreate' }),
      metadata: { namespace: 'default', name: 'own', annotations: { [STRATEGY]: 'Recreate' } },
    });
    expect(own.spec.failurePolicy).toEqual({ restartStrategy: 'Recreate', maxRestarts: 2 });
  });
});

describe('without webhooks', () => {
  let group: GroupUnderTest;
  afterEach(() => group.stop());

  async function begin(
    ofNamespace: StringMap = {},
    asOperator: (client: Client) => Client = (client) => client,
  ): Promise<MemoryLogger> {
    group = new GroupUnderTest();
    group.asOperator = asOperator;
    await group.start();
    await annotateNamespace(group.cluster.client, ofNamespace);
    const logger = new MemoryLogger();
    await group.startOperator(undefined, logger);
    return logger;
  }

  test('the controller obeys the annotations as it recorded them', async () => {
    await begin();
    await group.create(SPEC, ASKS_IN_PLACE);
    await group.allIn(1, 2);
    const { status, spec } = await group.jobSet();
    expect(spec.failurePolicy?.restartStrategy).toBe('Recreate');
    expect(status?.recordedAnnotations).toEqual(ASKS_IN_PLACE);
    const annotations = { [STRATEGY]: 'Recreate', [MAX]: '0' };
    await group.patch({ metadata: { annotations } });
    group.exit('w/0', 3);
    await group.allIn(2, 2);
    await group.startOperator();
    group.exit('w/1', 3);
    await group.allIn(3, 2);
    expect((await group.jobSet()).status).toMatchObject({
      inPlaceRestarts: 2,
      inPlaceRestartsCountTowardsMax: 2,
      restarts: 0,
      recordedAnnotations: ASKS_IN_PLACE,
    });
  });

  test('annotations that come after the first status change nothing', async () => {
    await begin();
    await group.create(SPEC);
    await group.until(({ restarts }) => restarts === 0);
    await group.patch({ metadata: { annotations: ASKS_IN_PLACE } });
    await group.cluster.calm(CALM_MS);
    const { status } = await group.jobSet();
    expect(status?.recordedAnnotations).toBeUndefined();
    expect(status?.syncedEpoch).toBeUndefined();
  });

  test('a wrong value rejects the JobSet until it is mended', async () => {
    await begin();
    await group.create(SPEC, { ...ASKS_IN_PLACE, [MAX]: 'many' });
    await group.cluster.until(async () => {
      const { conditions } = (await group.jobSet()).status ?? {};
      return (
        conditions?.some(({ type, message }) => type === 'Rejected' && message?.includes(MAX)) ===
        true
      );
    });
    await group.patch({ metadata: { annotations: { [MAX]: '10' } } });
    await group.allIn(1, 2);
    expect((await group.jobSet()).status?.recordedAnnotations).toEqual(ASKS_IN_PLACE);
  });

  test('the controller records the defaults of the Namespace, and tells of wrong ones', async () => {
    const defaults = { ...ASKS_IN_PLACE, 'lockstep/progress-timeout': '5m' };
    await begin({ ...defaults, 'lockstep/stop-grace': 'long' });
    await group.create(SPEC);
    await group.allIn(1, 2);
    expect((await group.jobSet()).status?.recordedAnnotations).toEqual(defaults);
    const told = (await group.events()).filter(
      ({ reason }) => reason === 'NamespaceDefaultIgnored',
    );
    expect(told.map(({ note }) => note)).toEqual([
      expect.stringContaining('metadata.annotations[lockstep/stop-grace]: Invalid value: "long"'),
    ]);
    await annotateNamespace(group.cluster.client, { [MAX]: '0', [STRATEGY]: 'Recreate' });
    group.exit('w/0', 3);
    await group.allIn(2, 2);
    await group.create(SPEC, {}, 'later');
    await group.cluster.until(async () => (await group.jobSet('later')).status?.restarts === 0);
    expect((await group.jobSet('later')).status?.recordedAnnotations).toBeUndefined();
  });

  test('an operator that may not read Namespaces runs without their defaults', async () => {
    const withoutNamespaces = (client: Client): Client =>
      new Proxy(client, {
        get: (target, key: keyof Client) => {
          if (key !== 'get') return target[key].bind(target);
          const get: Client['get'] = async (of, where, options) => {
            if (of.plural === NAMESPACES.plural) throw forbidden(of, where.name, 'not allowed');
            return target.get(of, where, options);
          };
          return get;
        },
      });
    const logger = await begin({ ...ASKS_IN_PLACE, [MAX]: '3' }, withoutNamespaces);
    await group.create(SPEC);
    await group.create(SPEC, ASKS_IN_PLACE, 'second');
    await group.cluster.until(async () => (await group.jobSet('second')).status?.syncedEpoch === 1);
    expect((await group.jobSet()).status?.recordedAnnotations).toBeUndefined();
    expect((await group.jobSet('second')).status?.recordedAnnotations).toEqual(ASKS_IN_PLACE);
    const told = logger.records.filter(({ message }) =>
      message.includes('may not read Namespaces'),
    );
    expect(told).toHaveLength(1);
  });

  test('a definition that drops the record keeps all of it off, and the status says so', async () => {
    group = new GroupUnderTest();
    await group.start();
    await group.cluster.define(definitionWithout('recordedAnnotations'));
    await group.startOperator();
    await group.create(SPEC, ASKS_IN_PLACE);
    await group.until(({ restarts }) => restarts === 0);
    const { status } = await group.jobSet();
    const outdated = status?.conditions?.find(({ type }) => type === 'DefinitionOutdated');
    expect(outdated?.message).toContain('status.recordedAnnotations');
    expect(status?.syncedEpoch).toBeUndefined();
    await group.cluster.calm(CALM_MS);
    const writes = group.operatorClient.writes.length;
    await group.cluster.calm(CALM_MS);
    expect(group.operatorClient.writes.length).toBe(writes);
  });
});
