/** Objects that look like parts of a group but are not: nothing changes for the group. */

import { PERSISTENT_VOLUME_CLAIMS, SERVICES } from '@lockstep/kube/objects/core.ts';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EXCEPTIONS } from '../kubernetes.ts';
import { GroupUnderTest } from './group-under-test.fixture.ts';
import {
  type Forgery,
  FROM_ANOTHER_NAMESPACE,
  FROM_THE_SAME_NAMESPACE,
  HOSTILE_NAMESPACE,
  manyJobs,
  podOfUnknownJob,
  takeAway,
  type Victim,
} from './hostile-tenant.fixture.ts';
import { CALM_MS, SUPERVISOR, THREE_WORKERS, WORKERS } from './three-workers.fixture.ts';
import { type Member, type StartMember, supervised } from './training-group.fixture.ts';

/** Slots whose agents do not come up. */
let held: Set<string>;
let group: GroupUnderTest;

const orHeld: StartMember = (pod, slot, runtime, started) => {
  if (!held.has(slot)) return supervised('Canonical')(pod, slot, runtime, started);
  const nothing = (): void => undefined;
  const ends = { exit: nothing, crash: nothing, end: nothing };
  return { slot, podName: pod.metadata.name, epoch: undefined, ...ends } satisfies Member;
};

beforeEach(async () => {
  held = new Set();
  group = new GroupUnderTest(orHeld);
  await group.start();
  await group.cluster.createNamespace(HOSTILE_NAMESPACE);
});

afterEach(() => group.stop());

interface Phase {
  readonly phase: string;
  reach(): Promise<void>;
  /** What happens next must happen as usual. */
  goOn(): Promise<void>;
}

async function run(): Promise<void> {
  await group.create(THREE_WORKERS, SUPERVISOR);
  await group.allIn(1, WORKERS);
}

/** Deletes the slot's Pod; its replacement's agent comes up. */
async function letCome(slot: string): Promise<void> {
  await group.cluster.until(async () => group.hasMember(slot));
  const name = group.podNameIn(slot);
  held.delete(slot);
  await group.cluster.client.delete(PODS, { namespace: 'default', name });
}

const PHASES: readonly Phase[] = [
  {
    phase: 'gathers at its first barrier',
    reach: async () => {
      held.add('w/2');
      await group.create(THREE_WORKERS, SUPERVISOR);
      await group.cluster.until(async () => group.hasMember('w/2'));
      await group.until(({ deprecatedEpoch }) => deprecatedEpoch === 0);
      await group.cluster.calm(CALM_MS);
    },
    goOn: async () => {
      await letCome('w/2');
      await group.allIn(1, WORKERS);
    },
  },
  {
    phase: 'runs',
    reach: run,
    goOn: async () => {
      group.exit('w/1', 7);
      await group.allIn(2, WORKERS);
      expect((await group.jobSet()).status).toMatchObject({ inPlaceRestarts: 1, restarts: 0 });
    },
  },
  {
    phase: 'restarts',
    reach: async () => {
      await run();
      held.add('w/2');
      const name = group.podNameIn('w/2');
      await group.cluster.client.delete(PODS, { namespace: 'default', name });
      group.exit('w/1', 7);
      await group.until(({ deprecatedEpoch }) => deprecatedEpoch === 1);
      await group.cluster.calm(CALM_MS);
    },
    goOn: async () => {
      await letCome('w/2');
      await group.allIn(2, WORKERS);
      expect((await group.jobSet()).status).toMatchObject({ inPlaceRestarts: 1, restarts: 0 });
    },
  },
  {
    phase: 'is suspended',
    reach: async () => {
      await run();
      await group.patch({ spec: { suspend: true } });
      await group.cluster.until(async () => (await group.cluster.pods()).length === 0);
    },
    goOn: async () => {
      await group.patch({ spec: { suspend: false } });
      await group.allIn(2, WORKERS);
      expect((await group.jobSet()).status).toMatchObject({ inPlaceRestarts: 0, restarts: 0 });
    },
  },
  {
    phase: 'has finished',
    reach: async () => {
      await run();
      for (const slot of ['w/0', 'w/1', 'w/2']) await group.finish(slot, 0);
      await group.until(({ terminalState }) => terminalState === 'Completed');
    },
    goOn: async () => {
      expect((await group.jobSet()).status).toMatchObject({ terminalState: 'Completed' });
    },
  },
];

async function victim(): Promise<Victim> {
  const jobSet = await group.jobSet();
  const job = await group.cluster.job('train-w-0');
  return { jobSet, job, epoch: (jobSet.status?.deprecatedEpoch ?? 0) + 1 };
}

/** All objects of the group, without the forged ones. */
async function groupObjects(forged: ReadonlySet<string>): Promise<readonly unknown[]> {
  const { spec, status } = await group.jobSet();
  const listed: unknown[] = [spec, status];
  for (const of of [JOBS, PODS, SERVICES, PERSISTENT_VOLUME_CLAIMS] as Resource[]) {
    const { items } = await group.cluster.client.list(of, { namespace: 'default' });
    listed.push(...items.filter(({ metadata }) => !forged.has(metadata.name)));
  }
  return listed;
}

async function attack(forgeries: readonly Forgery[]): Promise<void> {
  const { client } = group.cluster;
  await group.cluster.calm(CALM_MS);
  const forged = new Set(forgeries.flatMap(({ told }) => told?.name ?? []));
  const beside = forgeries === FROM_THE_SAME_NAMESPACE ? forged : new Set<string>();
  const before = await groupObjects(beside);
  const target = await victim();
  const rounds = EXCEPTIONS.timeIsReal ? [forgeries] : forgeries.map((forgery) => [forgery]);
  for (const round of rounds) {
    for (const { forge } of round) await forge(client, target);
    await group.cluster.calm(CALM_MS);
    // Makes the operator look at the group, even if the forged objects themselves do not.
    const what = round.map((forgery) => forgery.what).join();
    await group.patch({ metadata: { annotations: { 'example.com/look': what } } });
    await group.cluster.calm(CALM_MS);
    expect(await groupObjects(beside), what).toEqual(before);
  }
}

async function warnings(namespace: string) {
  const { items } = await group.cluster.client.list(EVENTS, { namespace });
  return items.filter(
    ({ reportingController, type }) => reportingController === 'jobset' && type === 'Warning',
  );
}

/** In others, times and counters of the status change meanwhile, without an attack. */
const STEADY = PHASES.filter(({ phase }) => phase === 'runs');

describe.each(EXCEPTIONS.timeIsReal ? STEADY : PHASES)(
  'while a group $phase',
  ({ reach, goOn }) => {
    test('nothing in another namespace changes it, and Events there say why', async () => {
      await reach();
      await attack(FROM_ANOTHER_NAMESPACE);
      await goOn();
      const told = await warnings(HOSTILE_NAMESPACE);
      for (const { what, told: expected } of FROM_ANOTHER_NAMESPACE) {
        if (expected === undefined) continue;
        const events = told.filter(
          ({ regarding }) => regarding.kind === expected.kind && regarding.name === expected.name,
        );
        expect(events, what).toEqual([expect.objectContaining({ reason: 'ForeignOwner' })]);
      }
    });

    test('nothing in its namespace changes it that is not wholly its own', async () => {
      await reach();
      await attack(FROM_THE_SAME_NAMESPACE);
      await goOn();
    });
  },
);

describe('a live Pod in its namespace with its labels, of an unknown Job', () => {
  const waiting = async () => {
    const { conditions = [] } = (await group.jobSet()).status ?? {};
    return conditions.find(({ type }) => type === 'WaitingForUnknownPod');
  };

  test('delays a release, is named, and blocks nothing once it is gone', async () => {
    await run();
    await podOfUnknownJob('unknown', 'Nothing').forge(group.cluster.client, await victim());
    group.exit('w/1', 7);
    await group.cluster.until(async () => (await waiting())?.status === 'True');
    await group.cluster.calm(CALM_MS);
    expect(group.running().size).toBe(0);
    expect((await waiting())?.message).toMatch(
      /^epoch 2 waits for Pod unknown of Job train-w-0 \(.*\): the labels are those of this JobSet, but it has no such Job;/,
    );
    await takeAway(group.cluster.client, 'unknown');
    await group.allIn(2, WORKERS);
    expect((await waiting())?.status).toBe('False');
    expect((await group.jobSet()).status).toMatchObject({ inPlaceRestarts: 1 });
  });

  test('ends no epoch by any announcement, and fills no slot', async () => {
    held.add('w/2');
    await group.create(THREE_WORKERS, SUPERVISOR);
    await group.until(({ deprecatedEpoch }) => deprecatedEpoch === 0);
    // The status is written before the Job is.
    await group.cluster.until(async () => group.hasMember('w/2'));
    const target = await victim();
    await podOfUnknownJob('failing', 'Failure').forge(group.cluster.client, target);
    await podOfUnknownJob('arrived', 'Arrival').forge(group.cluster.client, target);
    await group.cluster.calm(CALM_MS);
    expect(group.running().size).toBe(0);
    expect((await group.jobSet()).status).toMatchObject({ deprecatedEpoch: 0, syncedEpoch: 0 });
    for (const name of ['failing', 'arrived']) await takeAway(group.cluster.client, name);
    await letCome('w/2');
    await group.allIn(1, WORKERS);
  });
});

/** Events about objects of one namespace: at once, and in each second after that. */
const TOLD = { atOnce: 50, perSecond: 0.2 };

test('hundreds of objects of an attacker are reported in a few Events', async () => {
  await run();
  const target = await victim();
  const { client, clock } = group.cluster;
  const beginMs = clock.monotonic();
  for (let i = 0; i < 500; i++) await manyJobs(i).forge(client, target);
  await group.cluster.calm(CALM_MS);
  const told = await warnings(HOSTILE_NAMESPACE);
  // A busy machine takes a minute for all of them.
  const passedSeconds = (clock.monotonic() - beginMs) / 1000;
  expect(told.length).toBeGreaterThan(40);
  expect(told.length).toBeLessThanOrEqual(TOLD.atOnce + TOLD.perSecond * passedSeconds);
  group.exit('w/1', 7);
  await group.allIn(2, WORKERS);
});
