import type { Stored } from '@lockstep/kube/meta.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '@lockstep/kube/objects/core.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { failure } from '@lockstep/kube/status.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { JOBSETS, type JobSetSpec } from '../../src/jobset/jobset.ts';
import type { JobSetStatus } from '../../src/jobset/jobset-status.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { GroupUnderTest } from './group-under-test.fixture.ts';
import type { InterruptedClient } from './interrupted-client.fixture.ts';

/** The policies of reconciliation, as a user sees them. */
let group: GroupUnderTest;

beforeEach(async () => {
  group = new GroupUnderTest();
  await group.start();
});

afterEach(() => group.stop());

const CALM_MS = 10_000;
/** More than that. */
const TTL_SECONDS = 12;

async function jobs(): Promise<ReadonlyMap<string, Stored<Job>>> {
  const { items } = await group.cluster.client.list(JOBS, { namespace: 'default' });
  return new Map(items.map((job) => [job.metadata.name, job]));
}

async function jobNames(): Promise<readonly string[]> {
  return [...(await jobs()).keys()].sort();
}

/** Waits until exactly these Jobs exist. */
async function onlyJobs(...names: readonly string[]): Promise<void> {
  await group.cluster.until(async () => (await jobNames()).join() === names.join());
}

async function finishPodOf(job: string, exitCode = 0): Promise<void> {
  const pods = await group.cluster.pods();
  const pod = pods.find(
    ({ metadata, status }) => metadata.name.startsWith(`${job}-0-`) && status?.phase === 'Running',
  );
  if (pod === undefined) throw new Error(`no Pod of Job ${job} runs`);
  await group.cluster.finish(pod, exitCode);
}

async function condition(type: string): Promise<string> {
  const { status } = await group.jobSet();
  return status?.conditions?.find((each) => each.type === type)?.status ?? 'absent';
}

describe('the order in which ReplicatedJobs start', () => {
  test('InOrder: the driver is ready before its workers are made', async () => {
    await group.create({
      replicatedJobs: [replicatedJob('driver'), replicatedJob('workers', 2)],
      startupPolicy: { startupPolicyOrder: 'InOrder' },
    });
    await group.cluster.running(3);
    await group.cluster.until(async () => (await condition('StartupPolicyCompleted')) === 'True');
    expect(await condition('StartupPolicyInProgress')).toBe('False');
    const creations = group.operatorClient.writes.filter(({ what }) => what === 'create jobs');
    expect(creations.map(({ name }) => name)).toEqual(['train-driver-0', 'train-workers-0']);
    const events = (await group.events()).map(({ reason, note }) => `${reason}: ${note}`);
    expect(events).toEqual(
      expect.arrayContaining([
        'StartingReplicatedJob: starting replicatedJob driver',
        'StartingReplicatedJob: starting replicatedJob workers',
      ]),
    );
  });

  test('dependsOn: what depends on completion is made when the other is complete', async () => {
    const after = {
      ...replicatedJob('after'),
      dependsOn: [{ name: 'before', status: 'Complete' }],
    };
    await group.create({ replicatedJobs: [replicatedJob('before'), after] } as JobSetSpec);
    await group.cluster.running(1);
    await group.cluster.calm(CALM_MS);
    expect(await jobNames()).toEqual(['train-before-0']);
    await finishPodOf('train-before-0');
    await onlyJobs('train-after-0', 'train-before-0');
    await group.cluster.running(1);
    await finishPodOf('train-after-0');
    await group.until(({ terminalState }) => terminalState === 'Completed');
  });
});

describe('suspend and resume', () => {
  const pool = (nodeSelector: Readonly<Record<string, string | null>> | null, job = {}) => {
    const { template, ...others } = replicatedJob('w');
    const podSpec = { ...template.spec.template.spec, nodeSelector };
    const spec = { ...template.spec, ...job, template: { spec: podSpec } };
    return { ...others, template: { spec } };
  };

  test('a Job that another controller manages gets its nodes, too, and is resumed', async () => {
    const managedBy = 'kueue.x-k8s.io/multikueue';
    const replicatedJobs = [pool(null, { managedBy })];
    await group.create({ suspend: true, replicatedJobs } as unknown as JobSetSpec);
    await onlyJobs('train-w-0');
    const placed = [pool({ pool: 'x' }, { managedBy })];
    await group.patch({ spec: { suspend: false, replicatedJobs: placed } });
    await group.cluster.calm(CALM_MS);
    const { suspend, template } = (await jobs()).get('train-w-0')?.spec ?? {};
    expect([suspend, template?.spec.nodeSelector]).toEqual([false, { pool: 'x' }]);
  });

  test('a node selector that was removed while suspended disappears from the Job', async () => {
    await group.cluster.addNode('n2', {}, { pool: 'x' });
    const first = pool({ pool: 'x' });
    await group.create({ replicatedJobs: [first] } as JobSetSpec);
    await group.cluster.running(1);
    await group.patch({ spec: { suspend: true } });
    await group.cluster.running(0);
    await group.until(({ conditions }) => conditions?.some((c) => c.type === 'Suspended') ?? false);
    await group.patch({ spec: { suspend: false, replicatedJobs: [pool(null)] } });
    const [pod] = await group.cluster.running(1);
    const job = (await jobs()).get('train-w-0');
    expect(job?.spec.template.spec.nodeSelector).toBeUndefined();
    expect(await condition('Suspended')).toBe('False');
    const { status } = await group.jobSet();
    expect(status?.executionAttempts, 'one more run').toBe(1);
    expect(pod?.metadata.annotations).toMatchObject({
      'jobset.sigs.k8s.io/execution-attempt': '1',
    });
  });
});

describe('a finished Job that disappears', () => {
  test('by a hand is not run again, and counts', async () => {
    await group.create({ replicatedJobs: [replicatedJob('w', 1, 2)] });
    await group.cluster.running(2);
    await finishPodOf('train-w-0');
    await group.until(({ replicatedJobsStatus }) => replicatedJobsStatus?.[0]?.succeeded === 1);
    const at = { namespace: 'default', name: 'train-w-0' };
    await group.cluster.client.delete(JOBS, at, { propagationPolicy: 'Background' });
    await onlyJobs('train-w-1');
    await group.startOperator();
    await group.cluster.calm(CALM_MS);
    expect(await jobNames(), 'also after a restart of the operator').toEqual(['train-w-1']);
    await finishPodOf('train-w-1');
    await group.until(({ terminalState }) => terminalState === 'Completed');
  });

  test('by its own TTL of 0 is not run again', async () => {
    const { template, ...others } = replicatedJob('w', 1, 2);
    const spec = { ...template.spec, ttlSecondsAfterFinished: 0 };
    await group.create({ replicatedJobs: [{ ...others, template: { spec } }] });
    await group.cluster.running(2);
    await finishPodOf('train-w-0');
    await onlyJobs('train-w-1');
    await group.cluster.calm(CALM_MS);
    expect(await jobNames()).toEqual(['train-w-1']);
    await finishPodOf('train-w-1');
    await group.until(({ terminalState }) => terminalState === 'Completed');
  });
});

test('a foreign Job blocks its own index until it goes', async () => {
  await group.cluster.client.create(JOBS, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'train-w-0', namespace: 'default' },
    spec: {
      suspend: true,
      template: {
        spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'none' }] },
      },
    },
  });
  await group.create({ replicatedJobs: [replicatedJob('w', 1, 2)] });
  await group.cluster.running(1);
  await group.cluster.until(async () => (await condition('NameConflict')) === 'True');
  const at = { namespace: 'default', name: 'train-w-0' };
  await group.cluster.client.delete(JOBS, at, { propagationPolicy: 'Background' });
  await group.cluster.running(2);
  expect(await condition('NameConflict')).toBe('False');
});

test('a child with a broken label gets it back and is not recreated', async () => {
  await group.create({ replicatedJobs: [replicatedJob('w')] });
  await group.cluster.running(1);
  const uid = (await jobs()).get('train-w-0')?.metadata.uid;
  const key = 'jobset.sigs.k8s.io/restart-attempt';
  const patch = { metadata: { labels: { [key]: 'nonsense' } } };
  const at = { namespace: 'default', name: 'train-w-0' };
  await group.cluster.client.patch(JOBS, at, { type: 'merge', patch });
  await group.cluster.until(async () => {
    return (await jobs()).get('train-w-0')?.metadata.labels?.[key] === '0';
  });
  await group.cluster.calm(CALM_MS);
  expect((await jobs()).get('train-w-0')?.metadata.uid).toBe(uid);
  const events = (await group.events()).filter(({ reason }) => reason === 'MislabelledJob');
  expect(events.map(({ note }) => note)).toEqual([
    `Job train-w-0: label ${key} is "nonsense", expected "0"; it gets its labels back`,
  ]);
});

test('an elastic JobSet grows and shrinks, by Pods and by Jobs from the highest index', async () => {
  await group.create({ replicatedJobs: [replicatedJob('w', 1, 2)] });
  await group.cluster.running(2);
  await group.patch({ spec: { replicatedJobs: [replicatedJob('w', 2, 3)] } });
  await group.cluster.running(6);
  await group.patch({ spec: { replicatedJobs: [replicatedJob('w', 2, 1)] } });
  await onlyJobs('train-w-0');
  await group.cluster.running(2);
});

test('shared volume claims are made once, made again if deleted, and gone with the JobSet', async () => {
  const { client } = group.cluster;
  await group.cluster.provideVolume();
  const base = replicatedJob('w');
  const [worker] = base.template.spec.template.spec.containers;
  if (worker === undefined) throw new Error('no worker');
  const containers = [{ ...worker, volumeMounts: [{ name: 'data', mountPath: '/data' }] }];
  const template = { spec: { ...base.template.spec, template: { spec: { containers } } } };
  await group.create({
    replicatedJobs: [{ ...base, template }],
    volumeClaimPolicies: [
      {
        templates: [
          {
            apiVersion: 'v1',
            kind: 'PersistentVolumeClaim',
            metadata: { name: 'data' },
            spec: {
              accessModes: ['ReadWriteMany'],
              resources: { requests: { storage: '1Gi' } },
            },
          },
        ],
      },
    ],
  });
  await group.cluster.running(1);
  const exists = () => group.cluster.exists(PERSISTENT_VOLUME_CLAIMS, 'data-train');
  await group.cluster.calm(CALM_MS);
  const created = group.operatorClient.count('create persistentvolumeclaims');
  expect(created).toBe(1);
  // A claim that a Pod uses stays until the Pod is gone.
  await group.patch({ spec: { suspend: true } });
  await group.cluster.running(0);
  await client.delete(PERSISTENT_VOLUME_CLAIMS, { namespace: 'default', name: 'data-train' });
  await group.cluster.until(
    async () => group.operatorClient.count('create persistentvolumeclaims') === 2,
  );
  await group.cluster.until(exists);
  await client.delete(JOBSETS, { namespace: 'default', name: 'train' });
  await group.cluster.until(async () => !(await exists()));
});

test('a finished JobSet is deleted when its time is over, with all that is its', async () => {
  await group.create({
    replicatedJobs: [replicatedJob('w')],
    ttlSecondsAfterFinished: TTL_SECONDS,
  });
  await group.cluster.running(1);
  await finishPodOf('train-w-0');
  await group.until(({ terminalState }) => terminalState === 'Completed');
  await group.cluster.calm(CALM_MS);
  expect(await group.cluster.exists(JOBSETS, 'train')).toBe(true);
  await group.cluster.until(async () => !(await group.cluster.exists(JOBSETS, 'train')));
  await group.cluster.until(async () => (await jobNames()).length === 0);
});

describe('what is reported and logged', () => {
  const refuse = (times: number, error: () => Error) => {
    let left = times;
    return (client: InterruptedClient): void => {
      client.beforeWrite = ({ what }) => {
        if (what === 'create jobs' && left-- > 0) throw error();
      };
    };
  };
  const told = async () => (await group.events()).map(({ reason }) => reason);
  const complaints = (logger: MemoryLogger) =>
    logger.records.filter(({ level }) => level === 'warn' || level === 'error');

  test('a Job that could be made at the third try is not worth an Event', async () => {
    await group.startOperator(refuse(2, () => failure('Forbidden', 'exceeded quota')));
    await group.create({ replicatedJobs: [replicatedJob('w')] });
    await group.cluster.running(1);
    await group.cluster.calm(CALM_MS);
    expect(await told()).not.toContain('JobCreationFailed');
  });

  test('one that could not is reported with the reason', async () => {
    await group.startOperator(refuse(3, () => failure('Forbidden', 'exceeded quota')));
    await group.create({ replicatedJobs: [replicatedJob('w')] });
    await group.cluster.running(1);
    await group.cluster.until(async () => (await told()).includes('JobCreationFailed'));
    const event = (await group.events()).find(({ reason }) => reason === 'JobCreationFailed');
    expect(event?.note).toBe('exceeded quota');
  });

  test('the condition says what the API server says until the Job is there', async () => {
    const value = 'spec.template.spec.containers[0].imagePullPolicy: Unsupported value: "Lazy"';
    await group.startOperator(refuse(5, () => failure('Invalid', value)));
    await group.create({ replicatedJobs: [replicatedJob('w')] });
    const refused = (status: string, message: string) => (told: JobSetStatus) =>
      told.conditions?.some(
        (each) => each.type === 'JobsRefused' && each.status === status && each.message === message,
      ) === true;
    await group.until(refused('True', value));
    await group.cluster.running(1);
    await group.until(refused('False', 'the API server refuses none of the Jobs'));
  });

  test('a namespace that is being deleted is logged once, and no failure', async () => {
    const logger = new MemoryLogger();
    const causes = [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }];
    const error = () => failure('Forbidden', 'it is being terminated', { causes });
    await group.startOperator(refuse(1000, error), logger);
    await group.create({ replicatedJobs: [replicatedJob('w', 1, 3)] });
    await group.cluster.until(async () => group.operatorClient.count('create jobs') > 3);
    await group.patch({ metadata: { labels: { a: 'b' } } });
    await group.cluster.calm(60_000);
    expect(complaints(logger)).toEqual([]);
    const once = logger.records.filter(({ message }) => message.includes('namespace'));
    expect(once.map(({ level, fields }) => [level, fields['jobset']])).toEqual([
      ['info', 'default/train'],
    ]);
  });

  test('a JobSet that is deleted while it is worked on is no error', async () => {
    const logger = new MemoryLogger();
    const { client } = group.cluster;
    await group.startOperator((operator) => {
      operator.beforeWrite = ({ what, name }) =>
        what === 'update jobsets/status'
          ? client.delete(JOBSETS, { namespace: 'default', name }).catch(() => undefined)
          : undefined;
    }, logger);
    await group.create({ replicatedJobs: [replicatedJob('w')] });
    await group.cluster.calm(60_000);
    expect(group.operatorClient.count('update jobsets/status')).toBe(1);
    expect(complaints(logger)).toEqual([]);
  });
});
