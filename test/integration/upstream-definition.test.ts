/**
 * Lockstep under the definition of kubernetes-sigs/jobset, which drops most fields of our status:
 * epochs and charges come from attempts, what cannot be kept is off and named, and nothing loops
 * (docs/migrating-from-upstream.md).
 */

import type { Condition } from '@lockstep/kube/meta.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JobSetSpec } from '../../src/jobset/jobset.ts';
import { MANAGED_BY_LOCKSTEP } from '../../src/jobset/names.ts';
import { JOBSET_CRD } from '../../src/jobset/schema/crd.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { definitionWithout } from '../fixtures/older-definition.ts';
import { upstreamDefinition } from '../fixtures/upstream-definition.ts';
import { EXCEPTIONS } from '../kubernetes.ts';
import { GroupUnderTest } from './group-under-test.fixture.ts';

const WORKERS = 2;
const CALM_MS = 30_000;
const SPEC: JobSetSpec = {
  replicatedJobs: [replicatedJob('w', WORKERS)],
  managedBy: MANAGED_BY_LOCKSTEP,
  failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 2 },
};

let group: GroupUnderTest;

beforeEach(async () => {
  group = new GroupUnderTest();
  group.onlyManaged = true;
  await group.start();
});
afterEach(() => group.stop());

async function condition(type: string): Promise<Condition | undefined> {
  const { status } = await group.jobSet();
  return status?.conditions?.find((each) => each.type === type);
}

function fail(slot: number): Promise<void> {
  return Promise.resolve(group.exit(`w/${slot}`, 1));
}

/** An operator at rest writes nothing, whatever it cannot keep. */
async function expectRest(): Promise<void> {
  await group.cluster.calm(CALM_MS);
  const before = group.operatorClient.writes.length;
  await group.cluster.calm(CALM_MS);
  expect(group.operatorClient.writes.slice(before)).toEqual([]);
}

/** They differ in two fields. */
const RELEASES = ['0.12', '0.11'] as const;

describe.each(EXCEPTIONS.timeIsReal ? RELEASES.slice(0, 1) : RELEASES)(
  'a group under the definition of %s',
  (release) => {
    beforeEach(async () => {
      await group.stopOperator();
      await group.cluster.define(upstreamDefinition(release));
      await group.startOperator();
    });

    test('starts, restarts in place, and fails when its budget is spent', async () => {
      await group.create(SPEC);
      await group.allIn(1, WORKERS);
      expect((await group.jobSet()).status).toMatchObject({ currentInPlaceRestartAttempt: 0 });
      expect((await group.jobSet()).status).not.toHaveProperty('syncedEpoch');
      await expectRest();

      await fail(0);
      await group.allIn(2, WORKERS);
      expect((await group.jobSet()).status).toMatchObject({
        restarts: 0,
        previousInPlaceRestartAttempt: 0,
        currentInPlaceRestartAttempt: 1,
      });
      await expectRest();

      await fail(1);
      await group.allIn(3, WORKERS);
      await fail(1);
      await group.cluster.until(async () => (await condition('Failed'))?.status === 'True');
      expect(await condition('Failed')).toMatchObject({ reason: 'ReachedMaxRestarts' });
      await expectRest();
    });

    test('counts a restart that would not be charged, after a new operator took over', async () => {
      await group.create(SPEC);
      await group.allIn(1, WORKERS);
      await group.patch({ metadata: { annotations: { 'lockstep/restart-epoch': '1' } } });
      await group.allIn(2, WORKERS);
      await group.startOperator();
      await fail(0);
      await group.allIn(3, WORKERS);
      expect((await condition('RestartingInPlace'))?.status).toBe('False');
      await fail(0);
      await group.cluster.until(async () => (await condition('Failed'))?.status === 'True');
    });

    test('says all that is off', async () => {
      await group.create(SPEC, { 'lockstep/replace-after': '3/1h' });
      await group.allIn(1, WORKERS);
      expect(await condition('DefinitionOutdated')).toMatchObject({
        status: 'True',
        reason: 'FieldsMissing',
        message:
          'lockstep/replace-after, restarts without a charge, the record of the restart mode, the ' +
          'restart history, the back-off of crash loops, the account of lost time, the memory of Jobs ' +
          'that have succeeded and are gone, the count of execution attempts, ' +
          'spec.activeDeadlineSeconds and the observed generation with Ready and Stalled are off: the ' +
          'stored CustomResourceDefinition of JobSets lacks ' +
          'status.avoidedNodes, status.deprecatedEpoch, status.restartMode, status.restartHistory, ' +
          'status.goodput, status.replicatedJobsStatus[].succeededIndexes, status.executionAttempts, ' +
          'status.startTime and status.observedGeneration. It belongs to kubernetes-sigs/jobset: "lockstep install ' +
          '--replace-crd" replaces it by ours, which has all of its fields',
      });
    });

    test('continues in the same epoch when the definition becomes ours, and back', async () => {
      await group.create(SPEC);
      await group.allIn(1, WORKERS);
      await fail(0);
      await group.allIn(2, WORKERS);
      await group.cluster.define(JOBSET_CRD);
      await group.until(({ syncedEpoch }) => syncedEpoch === 2);
      expect((await group.jobSet()).status).toMatchObject({
        deprecatedEpoch: 1,
        inPlaceRestarts: 1,
        inPlaceRestartsCountTowardsMax: 1,
      });
      await group.cluster.until(
        async () => (await condition('DefinitionOutdated'))?.status === 'False',
      );
      await group.cluster.define(upstreamDefinition(release));
      await group.cluster.calm(CALM_MS);
      await fail(0);
      await group.allIn(3, WORKERS);
      await expectRest();
    });

    test('is refused if its ReplicatedJobs start in an order', async () => {
      const startupPolicy = { startupPolicyOrder: 'InOrder' } as const;
      await group.create({ ...SPEC, startupPolicy });
      await group.cluster.until(async () => (await condition('Rejected'))?.status === 'True');
      expect((await condition('Rejected'))?.message).toMatch(
        /^spec\.startupPolicy\.startupPolicyOrder: Forbidden: .*lockstep install --replace-crd/,
      );
    });

    test('recreates all Jobs as upstream does, if that is its strategy', async () => {
      await group.create({ ...SPEC, failurePolicy: { maxRestarts: 2 } });
      await group.cluster.running(WORKERS);
      await expectRest();
      expect((await condition('DefinitionOutdated'))?.message).toMatch(
        /^the memory of Jobs that have succeeded and are gone, /,
      );
    });
  },
);

let refusals = 0;

test('the definition of 0.10 refuses a group by itself', async () => {
  await group.cluster.define(upstreamDefinition('0.10'));
  // A real server serves a new definition a little after it is stored.
  let refusal = '';
  await group.cluster.until(async () => {
    const name = `group-${refusals++}`;
    refusal = await group.create(SPEC, {}, name).then(() => '', String);
    return refusal !== '';
  });
  expect(refusal).toMatch(/restartStrategy: Unsupported value/);
});

test('a group is refused under a definition that keeps no attempts', async () => {
  await group.stopOperator();
  await group.create(SPEC);
  const attempts = ['previousInPlaceRestartAttempt', 'currentInPlaceRestartAttempt'];
  await group.cluster.define(definitionWithout('deprecatedEpoch', 'syncedEpoch', ...attempts));
  await group.startOperator();
  await group.cluster.until(async () => (await condition('Rejected'))?.status === 'True');
  expect((await condition('Rejected'))?.message).toMatch(
    /^spec\.failurePolicy\.restartStrategy: Forbidden: .*keeps no attempts of restarts in place/,
  );
  expect((await group.cluster.client.list(JOBS, { namespace: 'default' })).items).toEqual([]);
  await expectRest();
});
