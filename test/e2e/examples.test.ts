/**
 * Runs every manifest in `examples/policies` to its end on the embedded cluster, with real
 * processes, and checks what its first comment says.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Stored } from '@lockstep/kube/meta.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '@lockstep/kube/objects/core.ts';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import { COMPLETION_INDEX, JOB_NAME_LABEL, JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import { NODES } from '@lockstep/kube/objects/node.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import type { JobSetStatus } from '../../src/jobset/jobset-status.ts';
import { JOBSET_NAME } from '../../src/jobset/names.ts';
import { isFinished, isTrue } from '../../src/jobset/status/conditions.ts';
import { PERSISTENT_VOLUMES } from '../fixtures/real-cluster.ts';
import { EXCEPTIONS } from '../kubernetes.ts';
import { type ClusterUnderTest, startCluster } from './local-cluster.fixture.ts';

const DIRECTORY = new URL('../../examples/policies/', import.meta.url);
const NAMESPACE = 'default';
const RUN_TIMEOUT_MS = 90_000;

let cluster: ClusterUnderTest;
beforeAll(async () => {
  cluster = await startCluster('--nodes', '4', '--topology', 'rack=2');
});
afterAll(() => cluster.stop());

function manifestOf(name: string): string {
  return readFileSync(new URL(`${name}.yaml`, DIRECTORY), 'utf8');
}

async function create(name: string, edit = (text: string): string => text): Promise<void> {
  const jobSet = parse(edit(manifestOf(name))) as JobSet;
  const metadata = { ...jobSet.metadata, namespace: NAMESPACE };
  // A second try of a test finds what the first one has left.
  const at = { namespace: NAMESPACE, name: metadata.name ?? name };
  await unlessGone(cluster.client.delete(JOBSETS, at, { propagationPolicy: 'Foreground' }));
  await jobSetThat(at.name, (each) => each === undefined);
  await cluster.client.create(JOBSETS, { ...jobSet, metadata });
}

function jobSetThat(
  name: string,
  condition: (jobSet: Stored<JobSet> | undefined) => boolean,
): Promise<Stored<JobSet> | undefined> {
  const options = { clock: nodeClock, random: systemRandom, timeoutMs: RUN_TIMEOUT_MS };
  return waitFor(cluster.client, JOBSETS, { namespace: NAMESPACE, name }, condition, options);
}

async function ended(name: string): Promise<JobSetStatus> {
  const jobSet = await jobSetThat(name, (each) => isFinished(each?.status?.conditions));
  return jobSet?.status ?? {};
}

async function run(name: string): Promise<JobSetStatus> {
  await create(name);
  return ended(name);
}

async function jobsOf(name: string): Promise<readonly Stored<Job>[]> {
  const labelSelector = `${JOBSET_NAME}=${name}`;
  const { items } = await cluster.client.list(JOBS, { namespace: NAMESPACE, labelSelector });
  return items;
}

async function podsOf(name: string): Promise<readonly Stored<Pod>[]> {
  const labelSelector = `${JOBSET_NAME}=${name}`;
  const { items } = await cluster.client.list(PODS, { namespace: NAMESPACE, labelSelector });
  return items;
}

async function jobOf(name: string, job: string): Promise<Stored<Job>> {
  return cluster.client.get(JOBS, { namespace: NAMESPACE, name: `${name}-${job}` });
}

async function eventsOf(name: string): Promise<readonly string[]> {
  const { items } = await cluster.client.list(EVENTS, { namespace: NAMESPACE });
  return items
    .filter(({ regarding }) => regarding.kind === 'JobSet' && regarding.name === name)
    .map(({ reason, note }) => `${reason}: ${note}`);
}

function conditionOf({ conditions }: JobSetStatus, type: string): object | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whole seconds: the resolution of Kubernetes' times. */
function time(text: string | undefined): number {
  return Date.parse(text ?? '');
}

/**
 * A volume for one claim. Our nodes keep the files at a place of their own, which does not matter
 * here.
 */
async function provideStorage(): Promise<void> {
  await cluster.client.create(PERSISTENT_VOLUMES, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'lockstep-test' },
    spec: {
      accessModes: ['ReadWriteMany'],
      capacity: { storage: '1Gi' },
      hostPath: { path: cluster.shared },
    },
  });
}

const RUNS: Readonly<Record<string, () => Promise<void>>> = {
  'startup-policy': async () => {
    const name = 'startup-policy';
    const status = await run(name);
    expect(status.terminalState).toBe('Completed');
    expect(conditionOf(status, 'StartupPolicyCompleted')).toMatchObject({ status: 'True' });
    const created = ['queue-0', 'driver-0', 'workers-0'].map((job) => jobOf(name, job));
    const [queue = 0, driver = 0, workers = 0] = (await Promise.all(created)).map((job) =>
      time(job.metadata.creationTimestamp),
    );
    expect(queue).toBeLessThanOrEqual(driver);
    expect(driver).toBeLessThanOrEqual(workers);
    const events = (await eventsOf(name)).join('\n');
    for (const replicatedJob of ['queue', 'driver', 'workers']) {
      expect(events).toContain(replicatedJob);
    }
  },
  'depends-on': async () => {
    expect((await run('depends-on')).terminalState).toBe('Completed');
    const prepare = await jobOf('depends-on', 'prepare-0');
    const train = await jobOf('depends-on', 'train-0');
    expect(time(train.metadata.creationTimestamp)).toBeGreaterThanOrEqual(
      time(prepare.status?.completionTime),
    );
  },
  'success-policy': async () => {
    expect((await run('success-policy')).terminalState).toBe('Completed');
    const left = await cluster.client.get(JOBS, {
      namespace: NAMESPACE,
      name: 'success-policy-leader-0',
    });
    expect(isTrue(left.status?.conditions, 'Complete')).toBe(true);
  },
  'failure-policy': async () => {
    const status = await run('failure-policy');
    expect(status).toMatchObject({
      terminalState: 'Completed',
      restarts: 1,
      restartsCountTowardsMax: 1,
    });
    expect(await eventsOf('failure-policy')).toContainEqual(
      expect.stringMatching(
        /^FailurePolicy_transient: applying RestartJobSet failure policy action \(first failed job: failure-policy-workers-0\)$/,
      ),
    );
  },
  'restart-job': async () => {
    const status = await run('restart-job');
    expect(status).toMatchObject({ terminalState: 'Completed', restarts: 0 });
    expect(status.replicatedJobsStatus).toMatchObject([
      { jobRestarts: [0, 1, 0], jobRestartsCountTowardsMax: [0, 1, 0] },
    ]);
  },
  'blocking-recreate': async () => {
    expect(await run('blocking-recreate')).toMatchObject({
      terminalState: 'Completed',
      restarts: 1,
    });
  },
  'volume-claims': async () => {
    const name = 'volume-claims';
    if (EXCEPTIONS.storageIsProvidedByHand) await provideStorage();
    expect((await run(name)).terminalState).toBe('Completed');
    const claim = { namespace: NAMESPACE, name: 'data-volume-claims' };
    const { metadata, status } = await cluster.client.get(PERSISTENT_VOLUME_CLAIMS, claim);
    expect(metadata.ownerReferences?.map((owner) => owner.name)).toEqual([name]);
    expect(status?.phase).toBe('Bound');
  },
  'active-deadline': async () => {
    const status = await run('active-deadline');
    expect(conditionOf(status, 'Failed')).toMatchObject({ reason: 'DeadlineExceeded' });
    const failed = status.conditions?.find(({ type }) => type === 'Failed');
    const activeMs = time(failed?.lastTransitionTime) - time(status.startTime);
    expect(activeMs).toBeGreaterThanOrEqual(3000);
    const options = { clock: nodeClock, random: systemRandom, timeoutMs: RUN_TIMEOUT_MS };
    const at = { namespace: NAMESPACE, name: 'active-deadline-workers-0' };
    await waitFor(cluster.client, JOBS, at, (job) => job === undefined, options);
    expect(await podsOf('active-deadline')).toEqual([]);
  },
  ttl: async () => {
    await create('ttl');
    await jobSetThat('ttl', (jobSet) => jobSet === undefined);
    expect(await jobsOf('ttl')).toEqual([]);
  },
  coordinator: async () => {
    expect((await run('coordinator')).terminalState).toBe('Completed');
  },
  'exclusive-placement': async () => {
    const name = 'exclusive-placement';
    expect((await run(name)).terminalState).toBe('Completed');
    const nodes = (await cluster.client.list(NODES)).items;
    const rackOf = new Map(nodes.map(({ metadata }) => [metadata.name, metadata.labels?.['rack']]));
    const racks = new Map<string, Set<string | undefined>>();
    for (const { metadata, spec } of await podsOf(name)) {
      const job = metadata.labels?.[JOB_NAME_LABEL] ?? '';
      const ofJob = racks.get(job) ?? new Set();
      racks.set(job, ofJob.add(rackOf.get(spec.nodeName ?? '')));
    }
    const [first, second] = [...racks.values()].map((set) => [...set]);
    expect([first, second].map((set) => set?.length)).toEqual([1, 1]);
    expect(first).not.toEqual(second);
  },
  'in-place-restart': async () => {
    const name = 'in-place-restart';
    const status = await run(name);
    expect(status).toMatchObject({ terminalState: 'Completed', restarts: 0, inPlaceRestarts: 1 });
    // If all containers restart, their ends may be gone from the status before the operator reads
    // it.
    expect(status.restartHistory).toMatchObject([{ epoch: 1, counted: true, witness: {} }]);
    const pods = await podsOf(name);
    const indexes = pods.map(({ metadata }) => Number(metadata.annotations?.[COMPLETION_INDEX]));
    expect(indexes.toSorted((left, right) => left - right)).toEqual([0, 0, 1, 1]);
    for (const pod of pods) {
      expect(pod.status?.containerStatuses?.[0]?.restartCount).toBe(1);
    }
  },
  'in-place-restart-exit-codes': async () => {
    const name = 'in-place-restart-exit-codes';
    const status = await run(name);
    expect(status).toMatchObject({ terminalState: 'Completed', restarts: 0, inPlaceRestarts: 2 });
    const exitCodes = status.restartHistory?.map(({ witness }) => witness?.exitCode);
    expect(exitCodes).toEqual([4, 1]);
    const job = await jobOf(name, 'workers-0');
    expect(job.status?.failed).toBe(1);
  },
  'in-place-restart-in-order': async () => {
    const name = 'in-place-restart-in-order';
    const status = await run(name);
    expect(status).toMatchObject({ terminalState: 'Completed', restarts: 0, inPlaceRestarts: 1 });
    expect(status.replicatedJobsStatus?.map(({ syncedEpoch }) => syncedEpoch)).toEqual([2, 2]);
    expect(conditionOf(status, 'StartupPolicyCompleted')).toMatchObject({ status: 'True' });
  },
  suspend: async () => {
    await create('suspend');
    await jobSetThat('suspend', (jobSet) => isTrue(jobSet?.status?.conditions, 'Suspended'));
    expect(await podsOf('suspend')).toEqual([]);
    const at = { namespace: NAMESPACE, name: 'suspend' };
    const patch = { type: 'merge', patch: { spec: { suspend: false } } } as const;
    await cluster.client.patch(JOBSETS, at, patch);
    expect((await ended('suspend')).terminalState).toBe('Completed');
  },
  elastic: async () => {
    await create('elastic');
    await jobSetThat('elastic', (jobSet) => jobSet?.status?.replicatedJobsStatus?.[0]?.ready === 1);
    const at = { namespace: NAMESPACE, name: 'elastic' };
    const operations = [
      { op: 'replace', path: '/spec/replicatedJobs/0/replicas', value: 2 },
    ] as const;
    await cluster.client.patch(JOBSETS, at, { type: 'json', operations });
    const status = await ended('elastic');
    expect(status.terminalState).toBe('Completed');
    expect(status.replicatedJobsStatus?.[0]?.succeeded).toBe(2);
  },
};

/**
 * Examples that need the nodes for themselves: Pods of other JobSets keep a rack from being
 * exclusive.
 */
const ALONE = new Set(['exclusive-placement']);
/** It asks for sidecars. */
const IMPOSSIBLE = new Set(EXCEPTIONS.podsAreNotRestarted ? ['in-place-restart'] : []);
const possible = Object.entries(RUNS).filter(([name]) => !IMPOSSIBLE.has(name));
const [alone, together] = [true, false].map((isAlone) =>
  possible.filter(([name]) => ALONE.has(name) === isAlone),
);

describe('the example of', () => {
  it('every policy is tried', () => {
    const files = readdirSync(DIRECTORY).map((file) => file.replace('.yaml', ''));
    expect(files.sort()).toEqual(Object.keys(RUNS).sort());
  });

  it.each(alone ?? [])('%s', (_, example) => example());
  it.concurrent.each(together ?? [])('%s', (_, example) => example());

  it.concurrent('exit codes: one that is fatal fails the JobSet at once', async () => {
    const name = 'fatal';
    await create('in-place-restart-exit-codes', (text) =>
      text
        .replace('name: in-place-restart-exit-codes', `name: ${name}`)
        .replace('exit 1 ;;', 'exit 3 ;;'),
    );
    const status = await ended(name);
    expect(conditionOf(status, 'Failed')).toMatchObject({
      reason: 'FailJobSetFailurePolicyAction',
      message: expect.stringContaining('first failed job: fatal-workers-0'),
    });
    expect([status.restarts, status.inPlaceRestarts ?? 0]).toEqual([0, 0]);
  });
});
