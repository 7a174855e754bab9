import type { Condition, Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { EnvVar } from '@lockstep/kube/objects/pod.ts';
import { expect, test } from 'vitest';
import {
  replicatedJob,
  storedJob,
  storedJobSet,
} from '../../../../test/fixtures/jobset-objects.ts';
import { conditionsOf } from '../../../../test/fixtures/planned.ts';
import {
  answering,
  membersAt,
  NOW_MS,
  podOf,
  snapshotOf,
  WITHOUT_READY,
} from '../../../../test/fixtures/snapshots.ts';
import { hubEnvironment, hubVolumes } from '../../injection/agent-hub.ts';
import { AGENT_CONTAINER_NAME } from '../../names.ts';
import { type Plan, plan } from '../../plan.ts';
import { NO_ANSWERS } from '../questions.ts';
import type { HubReach } from '../snapshot.ts';
import { AUTHORITIES_SPREAD_MS, HUB_LOOK_MS, HUB_SILENCE_MS } from './hub-reach.ts';

type Channel = 'Auto' | 'Hub';

const URL = 'https://lockstep-hub.lockstep-system.svc:9445';

function jobOf(env: readonly EnvVar[], volumes = hubVolumes(undefined)): Stored<Job> {
  const job = storedJob('train-w-0', 'w', { pods: 2 });
  const { template } = job.spec;
  const initContainers = [{ name: AGENT_CONTAINER_NAME, env }];
  const spec = { ...template.spec, initContainers, volumes };
  return { ...job, spec: { ...job.spec, template: { ...template, spec } } };
}

function toldOf(channel: Channel): Stored<Job> {
  const hub = { url: URL, authorities: 'PEM', channel };
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
  more: {
    readonly suspend?: boolean;
    readonly runningMs?: number;
    readonly authorities?: string;
    /** Besides `job`, and before it. */
    readonly others?: readonly Stored<Job>[];
  } = {},
): Plan {
  const { suspend = false, runningMs, authorities = 'PEM', others = [] } = more;
  const hub = { url: URL, authorities, channel: 'Hub' } as const;
  const silentAgents =
    runningMs === undefined ? undefined : new Map(SILENT_PODS.map(({ uid }) => [uid, runningMs]));
  const jobSet = {
    ...storedJobSet({
      replicatedJobs: [replicatedJob('w', 2, 1 + others.length)],
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
      jobs: [...others, job],
      members: membersAt(1, ...others, job),
      hubReach,
      nowMs: NOW_MS,
      agent: { image: 'agent', hub },
      answer: silentAgents ? answering({ SilentAgents: silentAgents }) : NO_ANSWERS,
    }),
  );
}

function messageOf(made: Plan): string {
  const found = made.status?.conditions?.find(({ type }) => type === 'HubUnreachable');
  return found?.message ?? '';
}

const JOB = storedJob('train-w-0', 'w', { pods: 2 });
const SILENT_PODS = [podOf(JOB, 0, 1), podOf(JOB, 1, 1)];

function silentFor(silentMs: number, more: Partial<HubReach> = {}): HubReach {
  const silent = SILENT_PODS.map((pod) => ({ pod, silentMs }));
  return { streams: 0, missing: silent.length, silent, mayLook: true, ...more };
}

const SILENT = silentFor(HUB_SILENCE_MS);
const RUNNING = { runningMs: HUB_SILENCE_MS };

test('30 s suffice for an agent to be missed, and for a look at it', () => {
  expect(HUB_SILENCE_MS + HUB_LOOK_MS).toBeLessThanOrEqual(30_000);
});

test.each<[Channel, string]>([
  ['Hub', 'the failure of such a worker restarts nothing'],
  ['Auto', 'they use the API server, over which the group restarts more slowly'],
])(
  'a group with channel %s none of whose agents reaches the hub says so, and what to do',
  (channel, text) => {
    const made = planFor(toldOf(channel), SILENT, [], RUNNING);
    expect(conditionsOf(made)).toContain('HubUnreachable=True NoAgentConnected');
    expect(messageOf(made)).toContain('none of 2 members has reached the hub');
    expect(messageOf(made)).toContain(text);
    expect(messageOf(made)).toContain(URL);
    expect(messageOf(made)).toContain(
      'egress from these Pods to TCP port 9445 of namespace lockstep-system',
    );
    expect(messageOf(made)).toContain('ConfigMap lockstep-hub-authorities');
    expect(messageOf(made)).toContain('lockstep doctor --probe train -n default');
    expect(made.events).toMatchObject([{ type: 'Warning', reason: 'NoAgentConnected' }]);
  },
);

test('a group some of whose agents do not reach it says how many, and names some', () => {
  const some = silentFor(HUB_SILENCE_MS, { streams: 998 });
  const made = planFor(toldOf('Hub'), some, [], RUNNING);
  expect(conditionsOf(made)).toContain('HubUnreachable=True AgentsNotConnected');
  expect(messageOf(made)).toContain('2 of 1000 members have not reached the hub');
  for (const { name } of SILENT_PODS) expect(messageOf(made)).toContain(name);
});

test('Jobs of a version that mounted no authorities are to be recreated', () => {
  const hub = { url: URL, authorities: 'PEM', channel: 'Hub' } as const;
  const message = messageOf(planFor(jobOf(hubEnvironment(hub)), SILENT, [], RUNNING));
  expect(message).toContain('only the authorities that were valid when they were created');
  expect(message).toContain('kubectl delete jobs -l jobset.sigs.k8s.io/jobset-name=train');
});

test('it looks at Pods that are silent for long, and no more often than it may', () => {
  expect(planFor(toldOf('Hub'), SILENT).question).toMatchObject({ kind: 'SilentAgents' });
  expect(planFor(toldOf('Hub'), silentFor(HUB_SILENCE_MS - 1)).question).toBeUndefined();
  const tooSoon = planFor(toldOf('Hub'), { ...SILENT, mayLook: false });
  expect(tooSoon.question).toBeUndefined();
  expect(tooSoon.requeueAfterMs).toBeLessThanOrEqual(HUB_LOOK_MS);
});

test.each<[string, number, number]>([
  ['has just started', HUB_SILENCE_MS, 1000],
  ['has not started', HUB_SILENCE_MS, 0],
])('nothing is said of an agent that %s', (_what, silentMs, runningMs) => {
  const made = planFor(toldOf('Hub'), silentFor(silentMs), [], { runningMs });
  expect(conditionsOf(made).join()).not.toContain('HubUnreachable=True');
  expect(made.requeueAfterMs).toBeLessThanOrEqual(HUB_LOOK_MS);
});

test('new authorities have two minutes to spread', () => {
  const renewed = { authorities: 'another PEM' };
  const soon = silentFor(AUTHORITIES_SPREAD_MS - 1);
  expect(planFor(toldOf('Hub'), soon, [], renewed).question).toBeUndefined();
  const late = silentFor(AUTHORITIES_SPREAD_MS);
  const made = planFor(toldOf('Hub'), late, [], { ...renewed, runningMs: AUTHORITIES_SPREAD_MS });
  expect(conditionsOf(made)).toContain('HubUnreachable=True NoAgentConnected');
});

test('they have as long for older Jobs beside one that was made with them', () => {
  const authorities = 'another PEM';
  const hub = { url: URL, authorities, channel: 'Hub' } as const;
  const { metadata, ...made } = jobOf(hubEnvironment(hub), hubVolumes(hub));
  const labels = { ...metadata.labels, 'jobset.sigs.k8s.io/job-index': '1' };
  const newer = { ...made, metadata: { ...metadata, name: 'train-w-1', uid: 'newer', labels } };
  const others = [newer];
  const soon = planFor(toldOf('Hub'), SILENT, [], { authorities, others });
  expect(soon.question).toBeUndefined();
  const late = silentFor(AUTHORITIES_SPREAD_MS);
  expect(planFor(toldOf('Hub'), late, [], { authorities, others }).question).toBeDefined();
});

test.each<[string, Stored<Job>, HubReach | undefined]>([
  ['all agents have come', toldOf('Hub'), { ...silentFor(0), streams: 2, missing: 0, silent: [] }],
  ['there is no member yet', toldOf('Hub'), { ...silentFor(0), missing: 0, silent: [] }],
  ['its agents know of no hub', jobOf([]), SILENT],
  ['this operator has none', toldOf('Hub'), undefined],
])('nothing is said if %s', (_why, job, hubReach) => {
  expect(conditionsOf(planFor(job, hubReach, [], RUNNING)).join()).not.toContain('HubUnreachable');
});

test('the condition ends when all agents have come, and stays until then', () => {
  const job = toldOf('Hub');
  const all = { ...silentFor(0), streams: 2, missing: 0, silent: [] };
  expect(conditionsOf(planFor(job, all, [UNREACHABLE]))).toContain(
    'HubUnreachable=False HubReached',
  );
  for (const reach of [SILENT, { ...silentFor(0), missing: 0 }, silentFor(0, { streams: 1 })]) {
    const still = planFor(job, reach, [UNREACHABLE]);
    expect(conditionsOf(still).join()).not.toContain('HubUnreachable=False');
    expect(still.question).toBeUndefined();
  }
  const suspended = planFor(job, SILENT, [UNREACHABLE], { suspend: true });
  expect(conditionsOf(suspended)).toContain('HubUnreachable=False NoHub');
});
