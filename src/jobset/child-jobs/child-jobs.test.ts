import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import { describe, expect, test } from 'vitest';
import { asked, storedJob } from '../../../test/fixtures/jobset-objects.ts';
import { JOB_INDEX, JOB_RESTART_ATTEMPT, REPLICATED_JOB_NAME, RESTART_ATTEMPT } from '../names.ts';
import { classifyJobs } from './child-jobs.ts';

const FAILED = { conditions: [{ type: 'Failed', status: 'True' }] } as const;
const COMPLETE = { conditions: [{ type: 'Complete', status: 'True' }] } as const;

function names(list: readonly Stored<Job>[]): readonly string[] {
  return list.map(({ metadata }) => metadata.name);
}

/** A Job as it was made, with labels on its Pod template, and its own labels changed later. */
function relabelled(labels: StringMap, own: StringMap): Stored<Job> {
  const job = storedJob('train-a-0', 'a', { metadata: { labels: own } });
  const template = { ...job.spec.template, metadata: { labels } };
  return { ...job, spec: { ...job.spec, template } };
}

const PLACE = { [RESTART_ATTEMPT]: '2', [REPLICATED_JOB_NAME]: 'a', [JOB_INDEX]: '0' };

describe('child Jobs', () => {
  test('are sorted by attempt and condition', () => {
    const jobs = [
      storedJob('old', 'a', { attempt: 1, status: FAILED }),
      storedJob('new', 'a', { attempt: 3 }),
      storedJob('failing', 'a', {
        attempt: 2,
        status: { conditions: [{ type: 'FailureTarget', status: 'True' }] },
      }),
      storedJob('failed', 'a', { attempt: 2, status: FAILED }),
      storedJob('done', 'a', { attempt: 2, status: COMPLETE }),
    ];
    const sorted = classifyJobs(jobs, asked(2));
    expect(names(sorted.previous)).toEqual(['old']);
    expect(names(sorted.active)).toEqual(['new', 'failing']);
    expect(names(sorted.successful)).toEqual(['done']);
    expect(names(sorted.failed)).toEqual(['failed']);
    expect(sorted).toMatchObject({ unreadable: [], mislabelled: [], surplus: [] });
  });

  test.each([
    ['of an earlier attempt of that Job', '1', 'previous'],
    ['of the present one', '2', 'active'],
    ['of a time before the label', undefined, 'previous'],
  ] as const)('restarted alone, %s', (_what, own, list) => {
    const labels = { ...PLACE, ...(own === undefined ? {} : { [JOB_RESTART_ATTEMPT]: own }) };
    const job = relabelled(labels, labels);
    const jobRestarts = new Map([['a', [2]]]);
    expect(classifyJobs([job], asked(2, { jobRestarts }))[list]).toEqual([job]);
    expect(classifyJobs([job], asked(2, { jobRestarts: undefined })).active, 'gate off').toEqual([
      job,
    ]);
  });

  test('beyond the replicas are surplus in any state', () => {
    const jobs = [
      storedJob('train-a-1', 'a', { index: 1 }),
      storedJob('train-a-2', 'a', { index: 2, status: FAILED }),
    ];
    const sorted = classifyJobs(jobs, asked(0, { replicas: new Map([['a', 2]]) }));
    expect(names(sorted.surplus)).toEqual(['train-a-2']);
    expect(names(sorted.active)).toEqual(['train-a-1']);
    expect(sorted.failed).toEqual([]);
  });

  describe('with broken labels do not stop the others', () => {
    test.each([
      ['an attempt that is no number', { [RESTART_ATTEMPT]: 'x' }, ' is "x", expected "2"'],
      ['another attempt', { [RESTART_ATTEMPT]: '7' }, ' is "7", expected "2"'],
      [
        'a missing ReplicatedJob',
        { [REPLICATED_JOB_NAME]: undefined },
        ' is missing, expected "a"',
      ],
      ['another index', { [JOB_INDEX]: '4' }, ' is "4", expected "0"'],
    ])('%s: the Pod template knows', (_what, change, problem) => {
      const own = Object.fromEntries(
        Object.entries({ ...PLACE, ...change }).filter(([, value]) => value !== undefined),
      );
      const job = relabelled(PLACE, own as StringMap);
      const sorted = classifyJobs([job, storedJob('other', 'a', { attempt: 2 })], asked(2));
      expect(names(sorted.active)).toEqual(['train-a-0', 'other']);
      const [key = ''] = Object.keys(change);
      expect(sorted.mislabelled).toEqual([
        {
          job,
          problem: `Job train-a-0: label ${key}${problem}`,
          wanted: { [key]: PLACE[key as keyof typeof PLACE] },
          lost: [],
        },
      ]);
    });

    test('of an unknown Job', () => {
      const odd = storedJob('odd', 'a', {
        metadata: { labels: { ...PLACE, [RESTART_ATTEMPT]: 'x' } },
      });
      const bare = storedJob('bare', 'a', { metadata: { labels: {} } });
      const wrong = relabelled({}, { ...PLACE, [JOB_RESTART_ATTEMPT]: '' });
      const sorted = classifyJobs([odd, bare, wrong], asked(2));
      expect(sorted.unreadable.map(({ problem }) => problem)).toEqual([
        `Job odd: label ${RESTART_ATTEMPT} is "x", expected an integer`,
        `Job bare: label ${RESTART_ATTEMPT} is missing, expected an integer; ` +
          `label ${REPLICATED_JOB_NAME} is missing, expected a name; ` +
          `label ${JOB_INDEX} is missing, expected an integer`,
        `Job train-a-0: label ${JOB_RESTART_ATTEMPT} is "", expected an integer`,
      ]);
      expect(sorted.active).toEqual([]);
    });
  });
});

describe('Jobs that are gone', () => {
  const replicas = new Map([['a', 4]]);
  const done = (index: number) => storedJob(`train-a-${index}`, 'a', { index, status: COMPLETE });

  test('still count as succeeded, by the status or by their last state', () => {
    const succeeded = new Map([['a', '0,2,9']]);
    const sorted = classifyJobs([done(0)], asked(0, { replicas, succeeded }), [done(3)]);
    expect(sorted.gone).toEqual(new Map([['a', new Set([2, 3])]]));
  });

  test('count for nothing where a Job has their index, or in another attempt', () => {
    const succeeded = new Map([['a', '1']]);
    const again = storedJob('train-a-1', 'a', { index: 1, attempt: 1 });
    const sorted = classifyJobs([again], asked(1, { replicas, succeeded }), [done(3)]);
    expect(sorted.gone.get('a')).toEqual(new Set());
  });

  test('still count as failed', () => {
    const failed = storedJob('train-a-1', 'a', { index: 1, status: FAILED });
    expect(classifyJobs([], asked(0, { replicas }), [failed]).failed).toEqual([failed]);
    expect(classifyJobs([], asked(1, { replicas }), [failed]).failed).toEqual([]);
  });
});
