/**
 * Numbers of ranks from the operator to the agents, over both channels: those who run in one epoch
 * count one group, whenever its size changes.
 */
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { JOBSETS, type JobSet, type JobSetSpec } from '../../src/jobset/jobset.ts';
import { DISABLE_IN_PLACE_RESTART, PROCESSES_PER_POD } from '../../src/jobset/names.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { CALM_MS, SUPERVISOR } from './three-workers.fixture.ts';
import {
  HubNetwork,
  supervised,
  supervisedOverHub,
  TrainingGroup,
} from './training-group.fixture.ts';

let group: TrainingGroup;
afterEach(() => group.stop());

const PROCESSES: Readonly<Record<string, number>> = { a: 2, b: 3 };
const RANKED = { ...SUPERVISOR, [PROCESSES_PER_POD]: 'a=2,b=3' };

function sized(a: number, b: number): JobSetSpec {
  return {
    replicatedJobs: [replicatedJob('a', a), replicatedJob('b', b), replicatedJob('driver')],
    startupPolicy: { startupPolicyOrder: 'InOrder' },
    failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 3 },
  };
}

async function resize(a: number, b: number): Promise<void> {
  await group.patch({ spec: { replicatedJobs: sized(a, b).replicatedJobs } });
}

async function run(): Promise<void> {
  await group.create(sized(2, 2), RANKED);
  await group.allIn(1, 5);
  await group.cluster.clock.advance(CALM_MS);
}

/** All members of that size run in `epoch`, with the numbers of such a group. */
async function expectRanks(epoch: number, a: number, b: number): Promise<void> {
  await group.allIn(epoch, a + b + 1);
  await group.cluster.clock.advance(CALM_MS);
  const world = 2 * a + 3 * b;
  const starts = group.starts.filter((start) => start.epoch === epoch);
  const ranks = starts.flatMap(({ ranks: numbers }) => {
    const { firstRank = 0, processes = 0 } = numbers ?? {};
    return Array.from({ length: processes }, (_, at) => firstRank + at);
  });
  expect(ranks.toSorted((x, y) => x - y)).toEqual([...Array(world).keys()]);
  for (const { slot, ranks: numbers } of starts) {
    const processes = PROCESSES[slot.split('/')[0] ?? ''];
    const whole = { world, groups: a + b, master: 'train-a-0-0.train', processes };
    if (processes === undefined) expect(numbers, slot).toBeUndefined();
    else expect(numbers, slot).toMatchObject(whole);
  }
  expect((await group.jobSet()).status).toMatchObject({ ranks: { world, groups: a + b } });
}

describe.each<[string, () => TrainingGroup]>([
  ['the API server', () => new TrainingGroup(supervised('Canonical'))],
  [
    'the hub',
    () => {
      const hub = new HubNetwork();
      return new TrainingGroup(supervisedOverHub(hub, 'Hub'), hub);
    },
  ],
])('over %s', (_channel, groupOf) => {
  const started = async (): Promise<void> => {
    group = groupOf();
    await group.start();
  };

  test('a restart keeps the numbers, and a new size has new ones', async () => {
    await started();
    await run();
    await expectRanks(1, 2, 2);
    group.exit('b/1', 1);
    await expectRanks(2, 2, 2);
    await resize(2, 3);
    await expectRanks(3, 2, 3);
    await resize(1, 3);
    await expectRanks(4, 1, 3);
    expect((await group.jobSet()).status).toMatchObject({ inPlaceRestartsCountTowardsMax: 1 });
  });

  test('a later stage that changes its size while an earlier one runs ends the epoch', async () => {
    await started();
    let changes = 1;
    group.onStart = ({ slot }) => {
      if (slot === 'a/0' && changes-- > 0) void resize(2, 4);
    };
    await group.create(sized(2, 2), RANKED);
    await group.cluster.until(async () => group.running().size === 7);
    const { status } = await group.jobSet();
    await expectRanks((status?.deprecatedEpoch ?? 0) + 1, 2, 4);
    expect(status).toMatchObject({ restartHistory: [{ cause: 'Scaled', counted: false }] });
  });

  test('with open barriers, a Pod that starts gets the numbers of now', async () => {
    await started();
    await run();
    await group.patch({ metadata: { annotations: { [DISABLE_IN_PLACE_RESTART]: '' } } });
    await resize(2, 3);
    await group.cluster.until(async () => group.running().size === 6);
    expect(group.starts.at(-1)).toMatchObject({ slot: 'b/2', ranks: { world: 13, firstRank: 10 } });
    expect(group.starts).toHaveLength(6);
    await group.patch({ metadata: { annotations: { [DISABLE_IN_PLACE_RESTART]: null } } });
    await expectRanks(2, 2, 3);
    expect((await group.jobSet()).status?.inPlaceRestartsCountTowardsMax ?? 0).toBe(0);
  });

  test.each([
    ['no numbers', null],
    ['those of an earlier epoch', { epoch: 0 }],
  ])(
    'a running epoch with %s, as an older operator leaves it, ends uncharged',
    async (_what, ranks) => {
      await started();
      await run();
      await group.stopOperator();
      const at = { namespace: 'default', name: 'train' };
      const patch = { type: 'merge', patch: { status: { ranks } } } as const;
      await group.cluster.client.patch(JOBSETS, at, patch, { subresource: 'status' });
      await group.startOperator();
      await expectRanks(2, 2, 2);
      expect((await group.jobSet()).status?.inPlaceRestartsCountTowardsMax ?? 0).toBe(0);
    },
  );
});

test('numbers that the API server drops are written again, and no epoch ends for them', async () => {
  group = new TrainingGroup(supervised('Canonical'));
  await group.start();
  let drops = true;
  group.asOperator = (client) =>
    new Proxy(client, {
      get: (target, property: keyof Client) => {
        const method = target[property].bind(target) as (...args: unknown[]) => unknown;
        return (...args: unknown[]) => {
          const [resource, object, ...rest] = args;
          if (!drops || property !== 'update' || resource !== JOBSETS) return method(...args);
          const { status, ...others } = object as JobSet;
          const { ranks: _, ...kept } = status ?? {};
          return method(resource, { ...others, status: kept }, ...rest);
        };
      },
    });
  await group.stopOperator();
  await group.startOperator();
  await group.create(sized(2, 2), RANKED);
  await group.cluster.clock.advance(CALM_MS);
  expect((await group.jobSet()).status?.ranks).toBeUndefined();
  drops = false;
  await expectRanks(1, 2, 2);
  expect((await group.jobSet()).status?.deprecatedEpoch ?? 0).toBe(0);
});
