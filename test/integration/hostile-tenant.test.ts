/** Objects that look like parts of a group, and are none: nothing of the group changes for them. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NAMESPACES, PERSISTENT_VOLUME_CLAIMS, SERVICES } from '../../src/kube/core.ts';
import { JOBS } from '../../src/kube/job.ts';
import { PODS } from '../../src/kube/pod.ts';
import type { Resource } from '../../src/kube/resource.ts';
import {
  type Forgery,
  FROM_ANOTHER_NAMESPACE,
  FROM_THE_SAME_NAMESPACE,
  HOSTILE_NAMESPACE,
  type Victim,
} from './hostile-tenant.fixture.ts';
import { CALM_MS, SUPERVISOR, THREE_WORKERS, WORKERS } from './three-workers.fixture.ts';
import {
  type Member,
  type StartMember,
  supervised,
  TrainingGroup,
} from './training-group.fixture.ts';

/** Slots whose agents do not come up. */
let held: Set<string>;
let group: TrainingGroup;

const orHeld: StartMember = (pod, slot, runtime, started) => {
  if (!held.has(slot)) return supervised('Canonical')(pod, slot, runtime, started);
  const nothing = (): void => undefined;
  const ends = { exit: nothing, crash: nothing, end: nothing };
  return { slot, podName: pod.metadata.name, epoch: undefined, ...ends } satisfies Member;
};

beforeEach(async () => {
  held = new Set();
  group = new TrainingGroup(orHeld);
  await group.start();
  await group.cluster.client.create(NAMESPACES, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: HOSTILE_NAMESPACE },
  });
});

afterEach(() => group.stop());

interface Phase {
  readonly phase: string;
  reach(): Promise<void>;
  /** What happens next has to happen as ever. */
  goOn(): Promise<void>;
}

async function run(): Promise<void> {
  await group.create(THREE_WORKERS, SUPERVISOR);
  await group.allIn(1, WORKERS);
}

/** Without its Pod the slot gets another, whose agent comes up. */
async function letCome(slot: string): Promise<void> {
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
      await group.until(({ deprecatedEpoch }) => deprecatedEpoch === 0);
      await group.cluster.clock.advance(CALM_MS);
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
      await group.cluster.clock.advance(CALM_MS);
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

/** All that the group consists of, but not what was forged beside it. */
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
  const { client, clock } = group.cluster;
  await clock.advance(CALM_MS);
  const forged = new Set(forgeries.flatMap(({ told }) => told?.name ?? []));
  const beside = forgeries === FROM_THE_SAME_NAMESPACE ? forged : new Set<string>();
  const before = await groupObjects(beside);
  const target = await victim();
  for (const { what, forge } of forgeries) {
    await forge(client, target);
    await clock.advance(CALM_MS);
    // Whatever the object itself wakes, the group is looked at.
    await group.patch({ metadata: { annotations: { 'example.com/look': what } } });
    await clock.advance(CALM_MS);
    expect(await groupObjects(beside), what).toEqual(before);
  }
}

describe.each(PHASES)('while a group $phase', ({ reach, goOn }) => {
  test('nothing in another namespace changes it', async () => {
    await reach();
    await attack(FROM_ANOTHER_NAMESPACE);
    await goOn();
  });

  test('nothing in its namespace changes it that is not wholly its own', async () => {
    await reach();
    await attack(FROM_THE_SAME_NAMESPACE);
    await goOn();
  });
});
