/** JobSets of one namespace that would take the operator's memory. */

import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { afterEach, expect, test } from 'vitest';
import { JOBSETS, type JobSetSpec } from '../../src/jobset/jobset.ts';
import { JOBSET_LIMITS } from '../../src/operator/tracking/jobset-budget.ts';
import { EXCEPTIONS } from '../kubernetes.ts';
import { GroupUnderTest } from './group-under-test.fixture.ts';
import { HOSTILE_NAMESPACE } from './hostile-tenant.fixture.ts';
import { CALM_MS, SUPERVISOR, THREE_WORKERS, WORKERS } from './three-workers.fixture.ts';
import {
  HubNetwork,
  type StartMember,
  supervised,
  supervisedOverHub,
} from './training-group.fixture.ts';

/** A sixteenth of the limits of production, so that the test handles a sixteenth of the bytes. */
const LIMITS = { taken: JOBSET_LIMITS.taken / 16, grown: JOBSET_LIMITS.grown / 16 };
/** An empty text counts as 40 bytes, so that one of 38 kB counts as 500 kB, and 16 fit. */
const LARGE_TEXTS = 12_500;
const COUNT = 20;
const FIT = 16;
const A_MINUTE_MS = 60_000;
/** At most a minute since the last list, and at most one until the server sends a bookmark. */
const TAKEN_IN_MS = 2 * A_MINUTE_MS + CALM_MS;
let group: GroupUnderTest;

async function start(
  member?: StartMember,
  hub?: HubNetwork,
  namespaces?: readonly string[],
): Promise<void> {
  group = new GroupUnderTest(member, hub);
  group.namespaces = namespaces;
  group.jobSetLimits = LIMITS;
  await group.start((cluster) => cluster.createNamespace(HOSTILE_NAMESPACE));
}

afterEach(() => group.stop());

function suspended(texts: number): JobSetSpec {
  const args = Array.from({ length: texts }, () => '');
  const template = { spec: { containers: [{ name: 'w', image: 'w', args }] } };
  return {
    suspend: true,
    replicatedJobs: [{ name: 'w', replicas: 1, template: { spec: { template } } }],
  };
}

async function createLarge(namespace: string, name: string): Promise<void> {
  await group.cluster.client.create(JOBSETS, {
    apiVersion: `${JOBSETS.group}/${JOBSETS.version}`,
    kind: JOBSETS.kind,
    metadata: { name, namespace },
    spec: suspended(LARGE_TEXTS),
  });
}

/** Names of JobSets with Jobs. */
async function served(): Promise<readonly string[]> {
  const { items } = await group.cluster.client.list(JOBS, { namespace: HOSTILE_NAMESPACE });
  return items.map(({ metadata }) => metadata.labels?.['jobset.sigs.k8s.io/jobset-name'] ?? '');
}

async function toldOf(namespace: string): Promise<readonly string[]> {
  const { items } = await group.cluster.client.list(EVENTS, { namespace });
  return items
    .filter(({ reason }) => reason === 'LeftOut')
    .map(({ regarding }) => regarding?.name ?? '');
}

const NAMES = Array.from({ length: COUNT }, (_, i) => `large-${String(i).padStart(2, '0')}`);

async function expectLastLeftOut(): Promise<void> {
  for (const name of NAMES) await createLarge(HOSTILE_NAMESPACE, name);
  await group.cluster.until(async () => (await served()).length === FIT);
  await group.cluster.calm(CALM_MS);
  expect((await served()).toSorted()).toEqual(NAMES.slice(0, FIT));
  expect((await toldOf(HOSTILE_NAMESPACE)).toSorted()).toEqual(NAMES.slice(FIT));
}

test('leaves out the last ones, says so, and another namespace does not notice', async () => {
  await start();
  await expectLastLeftOut();
  await group.create(THREE_WORKERS, SUPERVISOR);
  await group.allIn(1, WORKERS);
});

test.skipIf(EXCEPTIONS.timeIsReal)('takes them in when others go', async () => {
  await start();
  const { client } = group.cluster;
  await expectLastLeftOut();
  // A JobSet that is listed before them comes while no operator runs; the next serves the same.
  await group.stopOperator();
  await createLarge(HOSTILE_NAMESPACE, 'a-first');
  await group.startOperator();
  await group.cluster.pass(TAKEN_IN_MS);
  expect((await served()).toSorted()).toEqual(NAMES.slice(0, FIT));

  for (const name of [...NAMES.slice(0, 4), 'a-first']) {
    await client.delete(JOBSETS, { namespace: HOSTILE_NAMESPACE, name });
  }
  await group.cluster.pass(TAKEN_IN_MS);
  expect((await served()).toSorted()).toEqual(NAMES.slice(4));
});

/** Together they fit at first. Grown, they leave 64 kB of what those that have begun may take. */
const FILLERS = Array.from({ length: 12 }, (_, i) => `filler-${i}`);
const GROWN_TEXTS = 26_062;
/** They take 128 kB of memory. */
const ANNOTATIONS = Object.fromEntries(
  Array.from({ length: 3_125 }, (_, i) => [`a${i.toString(36).padStart(4, '0')}`, '']),
);

interface Way {
  readonly over: string;
  readonly member: StartMember;
  readonly hub?: HubNetwork;
  readonly namespaces?: readonly string[];
}

const hub = new HubNetwork();
const WAYS: readonly Way[] = [
  { over: 'the API', member: supervised('Canonical'), namespaces: ['default', HOSTILE_NAMESPACE] },
  { over: 'the hub', member: supervisedOverHub(hub, 'Hub'), hub },
];

test.skipIf(EXCEPTIONS.timeIsReal).each(WAYS)(
  'lets a group that outgrows the limit run and wait, over $over',
  async (way) => {
    await start(way.member, way.hub, way.namespaces);
    const { client } = group.cluster;
    await group.create(THREE_WORKERS, SUPERVISOR);
    await group.allIn(1, WORKERS);
    for (const name of FILLERS) await createLarge('default', name);
    await group.cluster.calm(CALM_MS);
    for (const name of FILLERS) {
      const patch = { spec: suspended(GROWN_TEXTS) };
      await client.patch(JOBSETS, { namespace: 'default', name }, { type: 'merge', patch });
    }
    await group.cluster.calm(CALM_MS);
    expect(await toldOf('default')).toEqual([]);
    const pods = await group.podUids();

    await group.patch({ metadata: { annotations: ANNOTATIONS } });
    await group.cluster.calm(CALM_MS);
    expect(await toldOf('default')).toEqual(['train']);
    expect([...group.running().values()]).toEqual([1, 1, 1]);

    // Its failures wait, also failures of agents that start again, and with the next operator.
    group.exit('w/0', 1);
    group.crash('w/1');
    await group.cluster.pass(A_MINUTE_MS);
    await group.startOperator();
    await group.cluster.pass(A_MINUTE_MS);
    expect((await group.jobSet()).status?.syncedEpoch).toBe(1);
    expect(await group.podUids()).toEqual(pods);

    await client.delete(JOBSETS, { namespace: 'default', name: FILLERS[0] ?? '' });
    await group.allIn(2, WORKERS);
    expect(await group.podUids()).toEqual(pods);
  },
);
