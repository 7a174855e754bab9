import { describe, expect, it } from 'vitest';
import { replicatedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import type { JobSet, JobSetSpec } from '../jobset.ts';
import { laterJobsWarnings } from './later-jobs.ts';

const SPEC: JobSetSpec = { replicatedJobs: [replicatedJob('a'), replicatedJob('b')] };

function begun(spec: JobSetSpec): JobSet {
  return { ...storedJobSet(spec), status: { restarts: 0 } };
}

/** The JobSet with these numbers of Jobs. */
function sized(a: number, b: number): JobSet {
  const numbers = [a, b];
  const jobs = SPEC.replicatedJobs ?? [];
  return begun({
    replicatedJobs: jobs.map((job, index) => ({ ...job, replicas: numbers[index] ?? 0 })),
  });
}

describe('a change of a running JobSet that its Jobs do not follow', () => {
  it('is warned of: counts in labels, and global indexes that may repeat', () => {
    const last = laterJobsWarnings(sized(2, 2), sized(2, 3));
    expect(last).toEqual([
      'spec.replicatedJobs[1].replicas: Jobs that run keep labels that count all Jobs, such as jobset.sigs.k8s.io/global-replicas',
    ]);
    expect(laterJobsWarnings(sized(2, 2), sized(3, 2))).toEqual([
      expect.stringContaining('jobset.sigs.k8s.io/job-global-index of the Jobs after them'),
    ]);
  });

  it('is warned of: another coordinator', () => {
    const coordinated = begun({ ...SPEC, coordinator: { replicatedJob: 'a' } });
    for (const [from, to] of [
      [begun(SPEC), coordinated],
      [coordinated, begun(SPEC)],
    ] as const) {
      expect(laterJobsWarnings(from, to)).toEqual([
        expect.stringMatching(/^spec\.coordinator reaches Jobs that are made from now on/),
      ]);
    }
  });

  it('is not warned of before there are Jobs', () => {
    const { status: _, ...unbegun } = sized(2, 2);
    expect(laterJobsWarnings(unbegun, sized(3, 2))).toEqual([]);
  });
});
