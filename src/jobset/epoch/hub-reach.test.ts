import { expect, test } from 'vitest';
import { replicatedJob, storedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { conditionsOf } from '../../../test/fixtures/planned.ts';
import { membersAt, NOW_MS, snapshotOf, WITHOUT_READY } from '../../../test/fixtures/snapshots.ts';
import type { Condition, Stored } from '../../kube/meta.ts';
import type { Job } from '../../kube/objects/job.ts';
import type { EnvVar } from '../../kube/objects/pod.ts';
import { hubEnvironment, hubVolumes } from '../injection/agent-hub.ts';
import { AGENT_CONTAINER_NAME } from '../names.ts';
import { type Plan, plan } from '../plan.ts';
import type { HubReach } from '../snapshot.ts';
import { HUB_SILENCE_MS } from './hub-reach.ts';

type Channel = 'Auto' | 'Hub';

function jobOf(env: readonly EnvVar[], volumes = hubVolumes(undefined)): Stored<Job> {
  const job = storedJob('train-w-0', 'w', { pods: 2 });
  const { template } = job.spec;
  const initContainers = [{ name: AGENT_CONTAINER_NAME, env }];
  const spec = { ...template.spec, initContainers, volumes };
  return { ...job, spec: { ...job.spec, template: { ...template, spec } } };
}

function toldOf(channel: Channel): Stored<Job> {
  const hub = { url: 'https://hub:9445', authorities: 'PEM', channel };
  return jobOf(hubEnvironment(hub), hubVolumes(hub));
}

const UNREACHABLE: Condition = {
  type: 'HubUnreachable',
  status: 'True',
  reason: 'NoAgentConnected',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

function planFor(
  job: Stored<Job>,
  hubReach: HubReach | undefined,
  conditions: readonly Condition[] = [],
  suspend = false,
): Plan {
  const jobSet = {
    ...storedJobSet({
      replicatedJobs: [replicatedJob('w', 2)],
      failurePolicy: { restartStrategy: 'InPlaceRestart' },
      suspend,
    }),
    status: {
      restarts: 0,
      restartsCountTowardsMax: 0,
      executionAttempts: 0,
      deprecatedEpoch: 0,
      syncedEpoch: 1,
      syncedTime: '2026-01-01T00:01:00.000000Z',
      conditions,
      replicatedJobsStatus: [
        { name: 'w', ready: 0, succeeded: 0, failed: 0, active: 0, suspended: 0, syncedEpoch: 1 },
      ],
    },
  };
  return plan(
    snapshotOf(jobSet, {
      ...WITHOUT_READY,
      jobs: [job],
      members: membersAt(1, job),
      hubReach,
      nowMs: NOW_MS,
    }),
  );
}

function messageOf(made: Plan): string {
  const found = made.status?.conditions?.find(({ type }) => type === 'HubUnreachable');
  return found?.message ?? '';
}

const SILENT: HubReach = { streams: 0, silentMs: HUB_SILENCE_MS, readyPods: 2 };

test.each<[Channel, string]>([
  ['Hub', 'the failure of a worker restarts nothing'],
  ['Auto', 'the group restarts over the API server'],
])(
  'a group with channel %s none of whose agents reaches the hub says so, and what to do',
  (channel, text) => {
    const made = planFor(toldOf(channel), SILENT);
    expect(conditionsOf(made)).toContain('HubUnreachable=True NoAgentConnected');
    expect(messageOf(made)).toContain(text);
    expect(messageOf(made)).toContain('https://hub:9445');
    expect(messageOf(made)).toContain('ConfigMap lockstep-hub-authorities');
    expect(made.events).toMatchObject([{ type: 'Warning', reason: 'NoAgentConnected' }]);
  },
);

test('Jobs of a version that mounted no authorities are to be made anew', () => {
  const hub = { url: 'https://hub:9445', authorities: 'PEM', channel: 'Hub' } as const;
  const message = messageOf(planFor(jobOf(hubEnvironment(hub)), SILENT));
  expect(message).toContain('only the authorities that were valid when they were created');
  expect(message).toContain('kubectl delete jobs -l jobset.sigs.k8s.io/jobset-name=train');
});

test('it is looked at again when the time may be up', () => {
  const made = planFor(toldOf('Hub'), { ...SILENT, silentMs: 60_000 });
  expect(conditionsOf(made)).toEqual([]);
  expect(made.requeueAfterMs).toBeLessThanOrEqual(HUB_SILENCE_MS - 60_000);
});

test.each<[string, Stored<Job>, HubReach | undefined]>([
  ['one agent has come', toldOf('Hub'), { streams: 1, silentMs: 0, readyPods: 2 }],
  [
    'no Pod was ready, so that none may run its agent yet',
    toldOf('Hub'),
    { ...SILENT, readyPods: 0 },
  ],
  ['its agents know of no hub', jobOf([]), SILENT],
  ['this operator has none', toldOf('Hub'), undefined],
])('nothing is said if %s', (_why, job, hubReach) => {
  expect(conditionsOf(planFor(job, hubReach)).join()).not.toContain('HubUnreachable');
});

test('the condition ends when an agent comes, and stays while none does', () => {
  const job = toldOf('Hub');
  const came = planFor(job, { streams: 1, silentMs: 0, readyPods: 0 }, [UNREACHABLE]);
  expect(conditionsOf(came)).toContain('HubUnreachable=False HubReached');
  const still = planFor(job, { ...SILENT, readyPods: 0 }, [UNREACHABLE]);
  expect(conditionsOf(still).join()).not.toContain('HubUnreachable=False');
  const suspended = planFor(job, SILENT, [UNREACHABLE], true);
  expect(conditionsOf(suspended)).toContain('HubUnreachable=False NoHub');
});
