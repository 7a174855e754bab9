import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { ObjectStore } from '@lockstep/kube/runtime/informer/object-store.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { createMetrics } from '@lockstep/kube/runtime/metrics.ts';
import { expect, test } from 'vitest';
import { replicatedJob, storedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import type { JobSet, JobSetSpec } from '../../jobset/jobset.ts';
import type { JobSetStatus } from '../../jobset/jobset-status.ts';
import { ownerKey, ownerOf } from '../../jobset/membership.ts';
import { Roster } from '../../jobset/roster/roster.ts';
import type { GroupView } from '../../jobset/roster/roster-group.ts';
import type { Heard } from '../../jobset/view/run-measures.ts';
import { JOBS_BY_OWNER } from './caches.ts';
import { MAX_MEASURED_JOBSETS, measureRuns } from './run-metrics.ts';

const START_MS = Date.parse('2026-03-01T00:00:00Z');
const SPEC: JobSetSpec = {
  replicatedJobs: [replicatedJob('w', 3)],
  failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 10 },
};

class World {
  readonly clock = new VirtualClock(START_MS);
  readonly metrics = createMetrics();
  readonly jobSets = new ObjectStore<JobSet>();
  readonly jobs = new ObjectStore<Job>({
    [JOBS_BY_OWNER]: (job) => {
      const owner = ownerOf(job);
      return owner === undefined ? [] : [ownerKey(owner)];
    },
  });
  heard: Heard | undefined;
  readonly stop = measureRuns({
    metrics: this.metrics,
    clock: this.clock,
    informers: { jobSets: { store: this.jobSets }, jobs: { store: this.jobs } },
    roster: { of: () => groupThatReports(this.heard) },
  });

  hold(...jobSets: readonly Stored<JobSet>[]): void {
    this.jobSets.replace(jobSets, '1');
  }

  /** The lines of these metrics, without their comments. */
  async lines(): Promise<readonly string[]> {
    const { signal } = new AbortController();
    const request = { method: 'GET', path: '/metrics', headers: {}, signal } as const;
    const { body } = await this.metrics.handler(request);
    const text = Buffer.from(body as Uint8Array).toString();
    return text.split('\n').filter((line) => line.startsWith('lockstep_jobset_'));
  }

  /** The JobSets that have series. */
  async measured(): Promise<ReadonlySet<string>> {
    const names = (await this.lines()).flatMap((line) => /jobset="([^"]*)"/.exec(line)?.[1] ?? []);
    return new Set(names);
  }
}

function groupThatReports(heard: Heard | undefined): GroupView {
  const nobody = new Roster(() => undefined).of({ namespace: '', name: '', uid: '' });
  if (heard === undefined) return nobody;
  const { progress, silentMs, ranksBehind = 0 } = heard;
  const lag = Array.from({ length: ranksBehind }, (_, local) => ({ local, silentMs: 60_000 }));
  const said = ranksBehind === 0 ? {} : { ranks: 64, lag };
  return {
    ...nobody,
    members: nobody.members,
    streams: 1,
    reported: () => progress,
    steps: () => (silentMs === undefined ? [] : [{ silentMs, ...said }]),
  };
}

/** Created this many minutes after the start of the test. */
function jobSet(name: string, minutes = 0, status?: JobSetStatus, suspend = false): Stored<JobSet> {
  const creationTimestamp = new Date(START_MS + minutes * 60_000).toISOString();
  const stored = storedJobSet(
    { ...SPEC, suspend },
    { name, uid: `uid-${name}`, creationTimestamp },
  );
  return status === undefined ? stored : { ...stored, status };
}

const OVER: JobSetStatus = {
  terminalState: 'Completed',
  conditions: [
    {
      type: 'Completed',
      status: 'True',
      reason: 'AllJobsCompleted',
      message: '',
      lastTransitionTime: '2026-03-01T02:00:00Z',
    },
  ],
};

const RUNNING: JobSetStatus = {
  deprecatedEpoch: 2,
  syncedEpoch: 3,
  syncedTime: '2026-03-01T00:10:00.000000Z',
  inPlaceRestartsCountTowardsMax: 2,
  replicatedJobsStatus: [
    { name: 'w', ready: 3, succeeded: 0, failed: 0, active: 3, suspended: 0, syncedEpoch: 3 },
  ],
  goodput: {
    time: '2026-03-01T00:20:00.000000Z',
    phase: 'Running',
    startingMs: 60_000,
    productiveMs: 1_140_000,
    checkpoint: 300,
    stepped: true,
  },
};

test('a running group has these series, and no others', async () => {
  const world = new World();
  world.hold(jobSet('train', 0, RUNNING));
  await world.clock.advance(1_200_000);
  world.heard = { progress: { highestStep: 330, checkpoint: 300 }, silentMs: 5000 };
  const created = START_MS / 1000;
  const of = 'namespace="default",jobset="train"';
  expect((await world.lines()).toSorted()).toEqual(
    [
      'lockstep_jobset_series_left_out 0',
      `lockstep_jobset_state{${of},state="AtBarrier"} 0`,
      `lockstep_jobset_state{${of},state="Released"} 1`,
      `lockstep_jobset_state{${of},state="Running"} 0`,
      `lockstep_jobset_state{${of},state="Suspended"} 0`,
      `lockstep_jobset_state{${of},state="Completed"} 0`,
      `lockstep_jobset_state{${of},state="Failed"} 0`,
      `lockstep_jobset_created_timestamp_seconds{${of}} ${created}`,
      `lockstep_jobset_progress_timestamp_seconds{${of}} ${created + 1195}`,
      `lockstep_jobset_members{${of}} 3`,
      `lockstep_jobset_members_announced{${of}} 0`,
      `lockstep_jobset_epoch{${of}} 3`,
      `lockstep_jobset_restart_budget{${of}} 10`,
      `lockstep_jobset_restart_budget_used{${of}} 2`,
      `lockstep_jobset_step{${of}} 330`,
      `lockstep_jobset_checkpoint{${of}} 300`,
      `lockstep_jobset_goodput_ratio{${of}} 0.95`,
      `lockstep_jobset_goodput_seconds{${of},class="Starting"} 60`,
      `lockstep_jobset_goodput_seconds{${of},class="Productive"} 1140`,
    ].toSorted(),
  );
});

test('ranks have these series, and no more however many fail', async () => {
  const world = new World();
  const suspect = {
    worker: 'worker 1 of w (w-0, index 1)',
    replicatedJob: 'w',
    jobIndex: 0,
    pod: 'p',
    why: 'was killed by SIGKILL',
    confidence: 'Certain',
  } as const;
  const restartHistory = Array.from({ length: 16 }, (_, i) => ({
    epoch: 20 - i,
    time: '2026-03-01T00:15:00.000000Z',
    cause: 'WorkerFailed' as const,
    counted: true,
    suspects: [{ ...suspect, rank: i % 9 }],
  }));
  const ranks = { epoch: 3, world: 8192, groups: 1024, master: 'm', replicatedJobs: [] };
  world.hold(jobSet('train', 0, { ...RUNNING, restartHistory, ranks }));
  world.heard = { progress: {}, silentMs: 0, ranksBehind: 2 };
  const of = 'namespace="default",jobset="train"';
  const lines = (await world.lines()).filter((line) => line.includes('rank'));
  expect(lines.toSorted()).toEqual([
    `lockstep_jobset_rank_failures{${of},rank="0"} 2`,
    `lockstep_jobset_rank_failures{${of},rank="1"} 2`,
    `lockstep_jobset_rank_failures{${of},rank="2"} 2`,
    `lockstep_jobset_ranks_behind{${of}} 2`,
    `lockstep_jobset_ranks{${of}} 8192`,
  ]);
});

test('series follow the status, and go with the JobSet and with the leadership', async () => {
  const world = new World();
  world.hold(jobSet('train'));
  const waiting = 'lockstep_jobset_barrier_since_timestamp_seconds';
  expect((await world.lines()).join('\n')).toContain(waiting);
  world.hold(jobSet('train', 0, RUNNING));
  expect((await world.lines()).join('\n')).not.toContain(waiting);
  world.hold(jobSet('other'));
  expect(await world.measured()).toEqual(new Set(['other']));
  world.hold();
  expect(await world.measured()).toEqual(new Set());
  world.hold(jobSet('train'));
  expect(await world.measured()).toEqual(new Set(['train']));
  world.stop();
  expect(await world.measured()).toEqual(new Set());
});

test('a stage that waits does so since the newest of its unfinished Jobs', async () => {
  const world = new World();
  const spec = { ...SPEC, replicatedJobs: [replicatedJob('a'), replicatedJob('b')] };
  const status: JobSetStatus = {
    deprecatedEpoch: 0,
    syncedEpoch: 0,
    replicatedJobsStatus: [
      { name: 'a', ready: 1, succeeded: 0, failed: 0, active: 1, suspended: 0, syncedEpoch: 1 },
      { name: 'b', ready: 0, succeeded: 0, failed: 0, active: 0, suspended: 0 },
    ],
  };
  const since = async (): Promise<string | undefined> =>
    (await world.lines()).find((line) => line.includes('barrier_since'))?.split(' ')[1];
  world.hold({ ...jobSet('train'), spec, status });
  expect(await since()).toBeUndefined();
  const ownerReferences = [
    {
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      name: 'train',
      uid: 'uid-train',
      controller: true,
    },
  ];
  const made = (of: string, minutes: number, more: object = {}, status = {}): Stored<Job> => {
    const creationTimestamp = new Date(START_MS + minutes * 60_000).toISOString();
    const metadata = { ownerReferences, creationTimestamp, ...more };
    return storedJob(`train-${of}-${minutes}`, of, { metadata, status });
  };
  const complete = { conditions: [{ type: 'Complete', status: 'True' }] };
  world.jobs.replace(
    [
      made('b', 3),
      made('b', 5),
      made('b', 7, { deletionTimestamp: '2026-03-01T00:08:00Z' }),
      made('b', 8, {}, complete),
      made('a', 9),
    ],
    '1',
  );
  expect(await since()).toBe(String(START_MS / 1000 + 300));
});

test('beyond the limit, JobSets that run come first, and the newest of those that are over', async () => {
  const world = new World();
  const many = Array.from({ length: MAX_MEASURED_JOBSETS - 3 }, (_, i) => jobSet(`run-${i}`, 10));
  const over = [jobSet('over-old', 1, OVER), jobSet('over-new', 2, OVER)];
  const suspended = [jobSet('held', 0, undefined, true), jobSet('held-late', 20, undefined, true)];
  world.hold(...over, ...suspended, ...many);
  expect(await world.lines()).toContain('lockstep_jobset_series_left_out 1');
  const measured = await world.measured();
  expect(measured.size).toBe(MAX_MEASURED_JOBSETS);
  expect(measured).not.toContain('over-old');
  world.hold(...over, ...suspended, ...many, jobSet('a', 30), jobSet('b', 30), jobSet('c', 31));
  const next = await world.measured();
  expect([next.has('c'), next.has('held'), next.has('over-new')]).toEqual([true, false, false]);
  // A newer one takes no series away.
  world.hold(...many, jobSet('a', 30), jobSet('b', 30), jobSet('c', 31), jobSet('late', 40));
  expect((await world.measured()).has('late')).toBe(false);
  expect(await world.lines()).toContain('lockstep_jobset_series_left_out 1');
});

test('beyond the limit, namespaces take turns, so that one tenant hides no run of another', async () => {
  const world = new World();
  const idle = Array.from({ length: MAX_MEASURED_JOBSETS }, (_, i) => jobSet(`idle-${i}`, 10));
  const late = jobSet('train', 60);
  world.hold(...idle, { ...late, metadata: { ...late.metadata, namespace: 'other' } });
  const measured = await world.measured();
  expect([measured.size, measured.has('train')]).toEqual([MAX_MEASURED_JOBSETS, true]);
});

test('any name stays one label', async () => {
  const world = new World();
  world.hold(jobSet('a"} 1\nlockstep_jobset_epoch{jobset="b\\'));
  const lines = await world.lines();
  expect(lines).toContain(
    'lockstep_jobset_members{namespace="default",jobset="a\\"} 1\\nlockstep_jobset_epoch{jobset=\\"b\\\\"} 3',
  );
});
