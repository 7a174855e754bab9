/**
 * An operator whose definition of JobSets is older than itself: what it cannot keep stays off, and
 * works once the definition is applied.
 */

import type { Condition } from '@lockstep/kube/meta.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { forbidden } from '@lockstep/kube/status-errors.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { definitionWithout } from '../fixtures/older-definition.ts';
import { GroupUnderTest } from './group-under-test.fixture.ts';

const WORKERS = 2;
const CALM_MS = 30_000;
const SPEC = {
  replicatedJobs: [replicatedJob('w', WORKERS)],
  failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 9 },
} as const;

let group: GroupUnderTest;
let logger: MemoryLogger;

beforeEach(async () => {
  group = new GroupUnderTest();
  logger = new MemoryLogger();
  await group.start();
});
afterEach(() => group.stop());

function applyDefinition(...missing: readonly string[]): Promise<void> {
  return group.cluster.define(definitionWithout(...missing));
}

async function outdated(name = 'train'): Promise<Condition | undefined> {
  const { status } = await group.jobSet(name);
  return status?.conditions?.find(({ type }) => type === 'DefinitionOutdated');
}

const warnings = () =>
  logger.records.filter(
    ({ level, message }) => level === 'warn' && message.includes('definition of JobSets'),
  );
const statusWrites = () =>
  group.operatorClient.writes.filter(({ what }) => what.includes('jobsets/status')).length;

test('a definition without status.observedGeneration keeps it, Ready and Stalled off, and nothing loops', async () => {
  await applyDefinition('observedGeneration');
  await group.startOperator(undefined, logger);
  await group.create(SPEC);
  await group.until(({ syncedEpoch }) => syncedEpoch === 1);
  await group.cluster.calm(CALM_MS);
  const before = statusWrites();
  await group.cluster.calm(CALM_MS);
  expect(statusWrites()).toBe(before);
  const { status } = await group.jobSet();
  expect(status?.observedGeneration).toBeUndefined();
  expect(status?.conditions?.map(({ type }) => type) ?? []).not.toContain('Ready');

  await applyDefinition();
  await group.until(({ observedGeneration }) => observedGeneration === 1);
  const { conditions } = (await group.jobSet()).status ?? {};
  expect(conditions?.find(({ type }) => type === 'Ready')?.reason).toBe('EpochReleased');
});

describe('a definition without status.avoidedNodes and status.progress', () => {
  test('turns off what needs them, says so, and nothing loops; a new one turns it on again', async () => {
    await applyDefinition('avoidedNodes', 'progress');
    await group.startOperator(undefined, logger);
    await group.create(SPEC, {
      'lockstep/replace-after': '3/1h',
      'lockstep/max-restarts-without-progress': '5',
    });
    await group.create(SPEC, { 'lockstep/replace-after': 'Off' }, 'plain');
    await group.until(({ syncedEpoch }) => syncedEpoch === 1);
    expect(await outdated()).toMatchObject({
      status: 'True',
      reason: 'FieldsMissing',
      message:
        'lockstep/replace-after and lockstep/max-restarts-without-progress are off: the stored ' +
        'CustomResourceDefinition of JobSets lacks status.avoidedNodes and status.progress. Apply that ' +
        'of this version of Lockstep, with "lockstep install" or from deploy/lockstep.yaml',
    });
    expect(await outdated('plain')).toBeUndefined();
    expect(warnings()).toHaveLength(1);

    await group.cluster.calm(CALM_MS);
    const before = statusWrites();
    await group.cluster.calm(CALM_MS);
    expect(statusWrites()).toBe(before);

    await applyDefinition('progress');
    await group.cluster.until(
      async () => (await outdated())?.message?.includes('replace-after') === false,
    );
    expect((await outdated())?.message).toContain('status.progress');
    await applyDefinition();
    await group.cluster.until(async () => (await outdated())?.status === 'False');
    expect(await outdated()).toMatchObject({ reason: 'FieldsKept' });
    expect(await outdated('plain')).toBeUndefined();
    await group.untilTold('FieldsMissing', 'FieldsKept');
  });

  test('is seen when it replaces a newer one, while the operator runs', async () => {
    await group.create(SPEC, { 'lockstep/preflight': 'true' });
    await group.allIn(1, WORKERS);
    expect(await outdated()).toBeUndefined();
    await applyDefinition('avoidedNodes');
    await group.cluster.until(async () => (await outdated())?.status === 'True');
    expect((await outdated())?.message).toMatch(/^lockstep\/preflight is off: /);
  });

  test('is only logged where no JobSet asks for anything', async () => {
    await applyDefinition('avoidedNodes');
    await group.startOperator(undefined, logger);
    await group.create(SPEC, { 'lockstep/progress-timeout': '1h' });
    await group.allIn(1, WORKERS);
    expect(warnings()).toMatchObject([{ fields: { fields: ['avoidedNodes'] } }]);
    expect(await outdated()).toBeUndefined();
  });

  test('is named for what every group has', async () => {
    await applyDefinition('goodput');
    await group.startOperator(undefined, logger);
    await group.create(SPEC);
    await group.allIn(1, WORKERS);
    expect((await outdated())?.message).toMatch(
      /^the account of lost time is off: .*status.goodput/,
    );
    await applyDefinition('goodput.held');
    await group.cluster.until(
      async () =>
        (await outdated())?.message?.startsWith(
          'the credit for work that workers save as they are told to end is off: the stored ' +
            'CustomResourceDefinition of JobSets lacks status.goodput.held. ',
        ) === true,
    );
  });
});

describe('an operator that may not read the definition', () => {
  test('works, leaves off what it may not be able to keep, and turns it on with the right', async () => {
    let mayRead = false;
    group.asOperator = (client) =>
      new Proxy(client, {
        get: (target, property: keyof Client) => {
          const method = target[property].bind(target) as (...args: unknown[]) => unknown;
          return (...args: unknown[]) => {
            if (args[0] !== CUSTOM_RESOURCE_DEFINITIONS || mayRead) return method(...args);
            return Promise.reject(forbidden(JOBSETS, 'train', 'no'));
          };
        },
      });
    await group.startOperator(undefined, logger);
    await group.create(SPEC, { 'lockstep/replace-after': '3/1h' });
    await group.allIn(1, WORKERS);
    expect(await outdated()).toMatchObject({ status: 'True', reason: 'DefinitionUnreadable' });
    await group.cluster.calm(10 * CALM_MS);
    expect(warnings()).toHaveLength(1);
    mayRead = true;
    await group.cluster.until(async () => (await outdated())?.status === 'False');
  });
});

test('a definition of this version is no news', async () => {
  await group.startOperator(undefined, logger);
  await group.create(SPEC, { 'lockstep/replace-after': '3/1h' });
  await group.allIn(1, WORKERS);
  expect(await outdated()).toBeUndefined();
  expect(warnings()).toEqual([]);
});
