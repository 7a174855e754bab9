import type { EnvVar } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it, test } from 'vitest';
import { replicatedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { admitJobSet } from '../admit.ts';
import { DEFAULT_FEATURE_GATES } from '../feature-gates.ts';
import type { JobSetSpec, ReplicatedJob } from '../jobset.ts';
import { type Metadata, problems } from './new-jobset.fixture.ts';
import { validateJobSetUpdate } from './validation.ts';

const KEY = 'lockstep/processes-per-pod';
const FIELD = `metadata.annotations[${KEY}]`;
const MODE = 'lockstep/restart-mode';

function ranked(name: string, pods = 2, env: readonly EnvVar[] = [], more = {}): ReplicatedJob {
  const base = replicatedJob(name, pods);
  const container = { name: 'worker', image: 'i', command: ['train'], env };
  const template = { ...base.template.spec.template, spec: { containers: [container], ...more } };
  return { ...base, template: { spec: { ...base.template.spec, template } } };
}

function group(...replicatedJobs: readonly ReplicatedJob[]): JobSetSpec {
  return { replicatedJobs, failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 3 } };
}

function annotated(processes: string, more = {}): Metadata {
  return { annotations: { [KEY]: processes, [MODE]: 'Supervisor', ...more } };
}

const WORKERS = group(ranked('driver', 1), ranked('workers'));
const JOBS = (index: number) => `spec.replicatedJobs[${index}].template.spec`;
const RANGE =
  'expected a number of processes from 1 to 64, or one for each ReplicatedJob, each named once, such as workers=8,driver=1';

describe('a JobSet with ranks', () => {
  test.each(['8', '1', '64', 'workers=8', 'driver=1,workers=64'])('is accepted with %s', (text) => {
    expect(problems(WORKERS, annotated(text))).toEqual([]);
  });

  test.each<[string, JobSetSpec, Metadata, readonly string[]]>([
    ['no process', WORKERS, annotated('0'), [`${FIELD}: Invalid value: "0": ${RANGE}`]],
    ['65 processes', WORKERS, annotated('65'), [`${FIELD}: Invalid value: "65": ${RANGE}`]],
    [
      'a ReplicatedJob that is named twice',
      WORKERS,
      annotated('workers=8,workers=4'),
      [`${FIELD}: Invalid value: "workers=8,workers=4": ${RANGE}`],
    ],
    [
      'a wrong list',
      WORKERS,
      annotated('workers:8'),
      [`${FIELD}: Invalid value: "workers:8": ${RANGE}`],
    ],
    [
      'an unknown ReplicatedJob',
      WORKERS,
      annotated('w=8'),
      [`${FIELD}: Invalid value: "w": no ReplicatedJob has this name`],
    ],
    [
      'sidecars',
      WORKERS,
      annotated('8', { [MODE]: 'Sidecar' }),
      [
        `metadata.annotations[${MODE}]: Invalid value: "Sidecar": must be Supervisor or Auto with ${KEY}, because a sidecar starts no processes`,
      ],
    ],
    [
      'no host names',
      { ...WORKERS, network: { enableDNSHostnames: false } },
      annotated('8'),
      [
        `spec.network.enableDNSHostnames: Invalid value: false: must be true with ${KEY}, because ranks call the host name of rank 0`,
      ],
    ],
    [
      'Jobs that are recreated',
      { replicatedJobs: WORKERS.replicatedJobs ?? [] },
      annotated('8'),
      [
        `spec.failurePolicy.restartStrategy: Invalid value: "Recreate": must be InPlaceRestart with ${KEY}, because only an agent starts several processes`,
      ],
    ],
    [
      'an agent of its own',
      group(
        ranked('workers', 2, [], {
          initContainers: [{ name: 'lockstep-agent', restartPolicy: 'Always' }],
        }),
      ),
      annotated('8'),
      [
        `${JOBS(0)}.template.spec.initContainers: Invalid value: "lockstep-agent": replicatedJob workers: the template must have no agent of its own with ${KEY}`,
      ],
    ],
    [
      'its own RANK and MASTER_ADDR',
      group(
        ranked('driver', 1, [{ name: 'RANK', value: '0' }]),
        ranked('workers', 2, [{ name: 'A' }, { name: 'RANK' }, { name: 'MASTER_ADDR' }]),
      ),
      annotated('workers=8'),
      [1, 2].map((at) => {
        const name = ['', 'RANK', 'MASTER_ADDR'][at];
        return `${JOBS(1)}.template.spec.containers[0].env[${at}].name: Invalid value: "${name}": replicatedJob workers: must not be set with ${KEY}, because the agent sets it for each rank`;
      }),
    ],
    [
      'more ReplicatedJobs than a message has room for',
      group(...Array.from({ length: 13 }, (_, at) => ranked(`j${at}`, 1))),
      annotated('8'),
      [
        `${FIELD}: Invalid value: 13: 13 ReplicatedJobs would have ranks, expected at most 12: name only those whose members are ranks`,
      ],
    ],
  ])('is refused with %s', (_what, spec, metadata, expected) => {
    expect(problems(spec, metadata)).toEqual(expected);
  });

  test.each<[string, object]>([
    ['Jobs without indexes', { completionMode: 'NonIndexed' }],
    ['parallelism that is not completions', { parallelism: 1, completions: 2 }],
  ])('is refused with %s', (_what, job) => {
    const { template, ...rest } = ranked('workers');
    const spec = group({ ...rest, template: { spec: { ...template.spec, ...job } } });
    const [problem, ...others] = problems(spec, annotated('8'));
    expect(problem).toMatch(/^spec\.replicatedJobs\[0\]\.template\.spec\.comple.*workers: /);
    expect(others).toEqual([]);
  });

  test.each<[string, Metadata, Metadata, boolean]>([
    ['another number', annotated('8'), annotated('4'), true],
    ['no number any more', annotated('8'), { annotations: { [MODE]: 'Supervisor' } }, true],
    ['a first number', { annotations: { [MODE]: 'Supervisor' } }, annotated('8'), true],
    ['the same number', annotated('8'), annotated('8', { other: 'x' }), false],
  ])('that changes to %s', (_what, before, after, isRefused) => {
    const errors = validateJobSetUpdate(
      storedJobSet(WORKERS, before),
      storedJobSet(WORKERS, after),
      DEFAULT_FEATURE_GATES,
    );
    expect(errors.map(({ field }) => field)).toEqual(isRefused ? [FIELD] : []);
  });

  it('has supervisors, if it leaves the mode open and whatever the administrator prefers', () => {
    const annotations = { [KEY]: '8' };
    for (const mode of ['Auto', 'Sidecar'] as const) {
      const given = storedJobSet(group(ranked('workers', 2, [], { shareProcessNamespace: true })), {
        annotations,
      });
      const { jobSet, ruleErrors } = admitJobSet(given, DEFAULT_FEATURE_GATES, undefined, {
        mode,
        injection: 'Enabled',
      });
      expect(jobSet.metadata.annotations?.[MODE]).toBe('Supervisor');
      expect(ruleErrors).toEqual([]);
    }
  });
});

it('a prefix of lines is on or off', () => {
  expect(problems(WORKERS, annotated('8', { 'lockstep/log-prefix': 'Off' }))).toEqual([]);
  expect(problems(WORKERS, annotated('8', { 'lockstep/log-prefix': 'No' }))).toEqual([
    'metadata.annotations[lockstep/log-prefix]: Unsupported value: "No": supported values: "On", "Off"',
  ]);
});
