/** Lives of JobSets, plan by plan, with Jobs and announcements as each test says. */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job, JobStatus } from '@lockstep/kube/objects/job.ts';
import {
  CREATED,
  replicatedJob,
  storedJob,
  storedJobSet,
} from '../../../test/fixtures/jobset-objects.ts';
import { COMPLETE, SUSPENDED } from '../../../test/fixtures/planned.ts';
import { answering, membersAt, podOf, snapshotOf } from '../../../test/fixtures/snapshots.ts';
import type { JobSet, JobSetSpec } from '../jobset.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import type { Snapshot } from '../plan/snapshot.ts';
import { plan } from '../plan.ts';
import { MemberCounts } from '../roster/members.ts';

export const CREATED_MS = Date.parse(CREATED);

/** A change from a second on. */
export interface Change {
  readonly jobs?: readonly Stored<Job>[];
  readonly spec?: Partial<JobSetSpec>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly members?: Snapshot['members'];
  readonly reported?: Snapshot['reported'];
  readonly lacks?: Snapshot['lacks'];
}
export type Moment = readonly [atS: number, change: Change];

/** The JobSet after the last moment. */
export function lived(
  spec: JobSetSpec,
  moments: readonly Moment[],
  status?: JobSetStatus,
): Stored<JobSet> {
  return afterEach(spec, moments, status).at(-1) ?? storedJobSet(spec);
}

/** The JobSet after each moment. */
export function afterEach(
  spec: JobSetSpec,
  moments: readonly Moment[],
  status?: JobSetStatus,
): readonly Stored<JobSet>[] {
  let jobSet: Stored<JobSet> = { ...storedJobSet(spec), ...(status && { status }) };
  let seen: Partial<Snapshot> = {
    hubReach: { streams: 2, missing: 0, silent: [], mayLook: false },
  };
  return moments.map(([atS, { spec: changed, annotations, ...more }]) => {
    const metadata = {
      ...jobSet.metadata,
      annotations: annotations ?? jobSet.metadata.annotations,
    };
    jobSet = { ...jobSet, metadata, spec: { ...jobSet.spec, ...changed } } as Stored<JobSet>;
    seen = { ...seen, ...more };
    jobSet = atRest(jobSet, { ...seen, nowMs: CREATED_MS + atS * 1000 });
    return jobSet;
  });
}

/** The JobSet after all status writes of a moment. */
function atRest(before: Stored<JobSet>, seen: Partial<Snapshot>): Stored<JobSet> {
  let jobSet = before;
  for (let pass = 0; pass < 20; pass++) {
    const { question, status } = plan(snapshotOf(jobSet, { ...seen, answer: ANSWERS }));
    if (question !== undefined) throw new Error(`unexpected question ${question.kind}`);
    if (status === undefined) return jobSet;
    jobSet = { ...jobSet, status };
  }
  throw new Error('it never rests');
}

const FAILED_POD = { pod: 'p0', exitCode: 1, reason: 'Error' };
const WITNESS = { record: FAILED_POD, finishedMs: CREATED_MS, showsFailure: true };

const ANSWERS = answering({
  ContainerMinimums: {},
  FreshJobs: true,
  SucceededPods: true,
  Witness: WITNESS,
  FailedJob: {},
});

export function job(status: JobStatus = {}, attempt = 0, name = 'w'): Stored<Job> {
  return storedJob(`train-${name}-0`, name, { pods: 2, attempt, status });
}

export const READY: JobStatus = { ready: 2, active: 2 };
export const DONE: JobStatus = { ...COMPLETE, succeeded: 2 };

export const ONE: JobSetSpec = {
  replicatedJobs: [replicatedJob('w', 2)],
  failurePolicy: { maxRestarts: 1 },
};
export const BEGUN: readonly Moment[] = [
  [0, {}],
  [1, { jobs: [job()] }],
  [30, { jobs: [job(READY)] }],
];

export const IN_PLACE = { restartStrategy: 'InPlaceRestart', maxRestarts: 2 } as const;
export const GROUP: JobSetSpec = { ...ONE, failurePolicy: IN_PLACE };
export const at = (epoch: number, ...jobs: readonly Stored<Job>[]): Change => ({
  jobs,
  members: membersAt(epoch, ...jobs),
});
export const RUNS = job(READY);
export const HELD = storedJob('train-w-0', 'w', { pods: 2, suspend: true, status: SUSPENDED });
/** One of two members announces the epoch. */
export const oneAt = (epoch: number): Snapshot['members'] => {
  const members = new MemberCounts();
  members.observe(podOf(RUNS, 0, epoch), CREATED_MS);
  return members;
};
/** Released at 30, first step at 40, checkpoint 5 at 80. */
export const RELEASED: readonly Moment[] = [
  [0, {}],
  [30, at(1, RUNS)],
];
export const told = (atS: number): Change => ({
  reported: () => ({
    firstStepMs: (atS - 40) * 1000,
    checkpoint: 5,
    checkpointMs: (atS - 80) * 1000,
  }),
});
