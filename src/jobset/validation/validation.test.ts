/** The errors of a new JobSet, each with its exact path and text. */

import type { JobSpec } from '@lockstep/kube/objects/job.ts';
import { describe, expect, test } from 'vitest';
import { replicatedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { withDefaults } from '../defaults.ts';
import { DEFAULT_FEATURE_GATES } from '../feature-gates.ts';
import type { JobSetSpec } from '../jobset.ts';
import {
  claim,
  IN_PLACE,
  JOBS,
  type Metadata,
  problems,
  RULES,
  rules,
  SUBDOMAIN,
  worker,
} from './new-jobset.fixture.ts';
import { jobSetWarnings, validateJobSet, validateJobSetCreate } from './validation.ts';

const LABEL =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
describe('a new JobSet', () => {
  test.each<[string, JobSetSpec]>([
    ['plain', worker({})],
    ['in place', { ...worker({}), ...IN_PLACE }],
    ['empty', {}],
    ['without replicas', worker({}, { replicas: 0 })],
    ['with a rule for everything', rules({ name: 'a' }, {}, { name: 'c_,:1' })],
    [
      'in order, depending on nothing',
      { ...worker({}), startupPolicy: { startupPolicyOrder: 'InOrder' } },
    ],
    [
      'in any order, with dependencies on all five before it',
      {
        startupPolicy: { startupPolicyOrder: 'AnyOrder' },
        replicatedJobs: [
          ...'abcde'.split('').map((name) => replicatedJob(name)),
          {
            ...replicatedJob('f'),
            dependsOn: 'abcde'.split('').map((name) => ({ name, status: 'Ready' as const })),
          },
        ],
      },
    ],
    ['of the built-in manager', { managedBy: 'jobset.sigs.k8s.io/jobset-controller' }],
    ['with a negative maxRestarts', { failurePolicy: { maxRestarts: -1 } }],
  ])('%s is accepted', (_what, spec) => {
    expect(problems(spec)).toEqual([]);
  });

  test.each<[string, JobSetSpec, Metadata, readonly string[]]>([
    [
      'a dependency of the first ReplicatedJob, even an empty list',
      worker({}, { dependsOn: [] }),
      {},
      [`${JOBS}.dependsOn: Forbidden: DependsOn can't be set for the first ReplicatedJob`],
    ],
    [
      'both ways of ordering',
      {
        startupPolicy: { startupPolicyOrder: 'InOrder' },
        replicatedJobs: [
          replicatedJob('a'),
          { ...replicatedJob('b'), dependsOn: [{ name: 'a', status: 'Ready' }] },
        ],
      },
      {},
      [
        'spec.startupPolicy.startupPolicyOrder: Invalid value: "InOrder": StartupPolicy and DependsOn APIs are mutually exclusive',
      ],
    ],
    [
      'dependencies on itself, on later ones and on unknown ones',
      {
        replicatedJobs: [
          replicatedJob('a'),
          {
            ...replicatedJob('b'),
            dependsOn: ['a', 'b', 'c', 'x'].map((name) => ({ name, status: 'Complete' as const })),
          },
          replicatedJob('c'),
        ],
      },
      {},
      [
        'spec.replicatedJobs[1].dependsOn[1].name: Invalid value: "b": replicatedJob: b cannot depend on replicatedJob: b',
        'spec.replicatedJobs[1].dependsOn[2].name: Invalid value: "c": replicatedJob: b cannot depend on replicatedJob: c',
        'spec.replicatedJobs[1].dependsOn[3].name: Invalid value: "x": replicatedJob: b cannot depend on replicatedJob: x',
      ],
    ],
    [
      'a subdomain that is no label',
      { network: { subdomain: 'a.b' } },
      {},
      [`spec.network.subdomain: Invalid value: "a.b": ${LABEL}`],
    ],
    [
      'a subdomain that is nothing at all',
      { network: { subdomain: '_' } },
      {},
      [
        `spec.network.subdomain: Invalid value: "_": ${SUBDOMAIN}`,
        `spec.network.subdomain: Invalid value: "_": ${LABEL}`,
      ],
    ],
    [
      'a subdomain that is too long',
      { network: { subdomain: 'a'.repeat(64) } },
      {},
      [
        `spec.network.subdomain: Invalid value: "${'a'.repeat(64)}": .spec.network.subdomain is too long, must be less than 63 characters`,
      ],
    ],
    [
      'a manager without domain',
      { managedBy: 'me' },
      {},
      [
        'spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")',
      ],
    ],
    ['a manager without name', { managedBy: '' }, {}, ['spec.managedBy: Required value']],
    [
      'a manager that is too long',
      { managedBy: `a.b/${'x'.repeat(60)}` },
      {},
      ['spec.managedBy: Too long: may not be more than 63 bytes'],
    ],
    [
      'too many Pods',
      worker({ parallelism: 2_000_000, completions: 1 }, { replicas: 2000 }),
      {},
      [
        'spec.replicatedJobs: Invalid value: 4000000000: the sum of replicas times parallelism must not exceed 1000000',
        `${JOBS}.replicas: Invalid value: 2000: the product of replicas and parallelism must not exceed 2147483647 for replicatedJob 'w'`,
      ],
    ],
    [
      'a group name that is no label',
      worker({}, { groupName: '1x' }),
      {},
      [`${JOBS}.groupName: Invalid value: "1x": ${LABEL}`],
    ],
    [
      'a group name that is too long',
      worker({}, { groupName: 'g'.repeat(64) }),
      {},
      [
        `${JOBS}.groupName: Invalid value: "${'g'.repeat(64)}": .spec.replicatedJob[].groupName is too long, must be less than 63 characters`,
      ],
    ],
    [
      'names of Jobs and Pods that are no labels',
      worker({}, { name: 'W' }),
      {},
      [
        `${JOBS}.name: Invalid value: "train-W-0": ${LABEL}`,
        `${JOBS}.name: Invalid value: "train-W-0-1-abcde": ${LABEL}`,
      ],
    ],
    [
      'names of Jobs that are too long',
      worker({ completionMode: 'NonIndexed' }, { replicas: 10 }),
      { name: 'a'.repeat(60) },
      [
        `${JOBS}.name: Invalid value: "${'a'.repeat(60)}-w-9": JobSet name is too long, job names generated for this JobSet will exceed 63 characters`,
      ],
    ],
    [
      'names of Pods that are too long',
      worker({ completions: 100, parallelism: 1 }),
      { name: 'a'.repeat(52) },
      [
        `${JOBS}.name: Invalid value: "${'a'.repeat(52)}-w-0-99-abcde": JobSet name is too long, pod names generated for this JobSet will exceed 63 characters`,
      ],
    ],
    [
      'an unknown target of the success policy',
      { ...worker({}), successPolicy: { operator: 'Any', targetReplicatedJobs: ['w', 'x'] } },
      {},
      [
        'spec.successPolicy.targetReplicatedJobs[1]: Invalid value: "x": invalid replicatedJob name \'x\' does not appear in .spec.ReplicatedJobs',
      ],
    ],
    [
      'an unknown coordinator',
      { ...worker({}), coordinator: { replicatedJob: 'x' } },
      {},
      [
        'spec.coordinator.replicatedJob: Invalid value: "x": coordinator replicatedJob x does not exist',
      ],
    ],
    [
      'a coordinator in a Job that is not there',
      { ...worker({}), coordinator: { replicatedJob: 'w', jobIndex: 1 } },
      {},
      [
        'spec.coordinator.jobIndex: Invalid value: 1: coordinator job index 1 is invalid for replicatedJob w',
      ],
    ],
    [
      'a coordinator without an index',
      { ...worker({ completionMode: 'NonIndexed' }), coordinator: { replicatedJob: 'w' } },
      {},
      [
        'spec.coordinator.replicatedJob: Invalid value: "w": job for coordinator pod must be indexed completion mode, and completions number must be set',
      ],
    ],
    [
      'a coordinator beyond the last Pod',
      { ...worker({}), coordinator: { replicatedJob: 'w', podIndex: 2 } },
      {},
      [
        'spec.coordinator.podIndex: Invalid value: 2: coordinator pod index 2 is invalid for replicatedJob w job index 0',
      ],
    ],
    [
      'a coordinator whose address is no label, whether or not it is there',
      { coordinator: { replicatedJob: 'x' }, network: { subdomain: 's'.repeat(60) } },
      {},
      [
        'spec.coordinator.replicatedJob: Invalid value: "x": coordinator replicatedJob x does not exist',
        `spec.coordinator: Invalid value: {"replicatedJob":"x"}: spec will lead to invalid label value "train-x-0-0.${'s'.repeat(60)}" for coordinator label "jobset.sigs.k8s.io/coordinator" (long JobSet / ReplicatedJob / SubDomain name?): must be no more than 63 bytes`,
      ],
    ],
    [
      'Jobs that give up during an in-place restart',
      { ...worker({ backoffLimit: 6 }), ...IN_PLACE },
      {},
      [
        `${JOBS}.template.spec.backoffLimit: Invalid value: 6: replicatedJob w: must be set to 2147483647 (MaxInt32) when in-place restart is enabled`,
      ],
    ],
    [
      'Jobs that replace Pods early during an in-place restart',
      { ...worker({ podReplacementPolicy: 'TerminatingOrFailed' }), ...IN_PLACE },
      {},
      [
        `${JOBS}.template.spec.podReplacementPolicy: Invalid value: "TerminatingOrFailed": replicatedJob w: must be set to Failed when in-place restart is enabled`,
      ],
    ],
    [
      'Jobs that grow during an in-place restart',
      { ...worker({ completions: 5 }), ...IN_PLACE },
      {},
      [
        `${JOBS}.template.spec.completions: Invalid value: 5: replicatedJob w: completions and parallelism must be set and equal to each other when in-place restart is enabled`,
      ],
    ],
    [
      'an unknown mode',
      worker({}),
      { annotations: { 'lockstep/restart-mode': 'Fast' } },
      [
        'metadata.annotations[lockstep/restart-mode]: Unsupported value: "Fast": supported values: "Auto", "Sidecar", "Supervisor"',
      ],
    ],
    [
      'exclusive placement of Pods without an index, which have no leader',
      worker({ completionMode: 'NonIndexed' }),
      { annotations: { 'alpha.jobset.sigs.k8s.io/exclusive-topology': 'rack' } },
      [
        `${JOBS}.template.spec.completionMode: Invalid value: "NonIndexed": must be Indexed with annotation alpha.jobset.sigs.k8s.io/exclusive-topology: the other Pods of a Job follow the Pod of index 0`,
      ],
    ],
  ])('is refused for %s', (_what, spec, metadata, expected) => {
    expect(problems(spec, metadata)).toEqual(expected);
  });

  test('is refused for a supervisor without a command to start', () => {
    const spec = {
      ...worker({ template: { spec: { containers: [{ name: 'c' }] } } }),
      ...IN_PLACE,
    };
    const annotations = { 'lockstep/restart-mode': 'Supervisor' };
    expect(problems(spec, { annotations })).toEqual([
      expect.stringContaining(
        `${JOBS}.template.spec.template.spec.containers[0].command: Required`,
      ),
    ]);
  });

  test('may place Pods without an index where nodes were prepared by hand', () => {
    const annotations = {
      'alpha.jobset.sigs.k8s.io/exclusive-topology': 'rack',
      'alpha.jobset.sigs.k8s.io/node-selector': 'true',
    };
    expect(problems(worker({ completionMode: 'NonIndexed' }), { annotations })).toEqual([]);
  });

  test('has Pods with a restart policy that Jobs may not have', () => {
    const template = { spec: { containers: [{ name: 'c' }], restartPolicy: 'Always' as const } };
    expect(problems(worker({ template }))).toEqual([
      `${JOBS}.template.spec.template.spec.restartPolicy: Unsupported value: "Always": supported values: "OnFailure", "Never"`,
    ]);
  });

  test('gets all its problems at once, in upstream’s order', () => {
    const spec: JobSetSpec = {
      ...rules({ name: '1' }),
      replicatedJobs: [{ ...replicatedJob('A'), groupName: '1', dependsOn: [] }],
      managedBy: 'x',
      network: { subdomain: '-' },
      successPolicy: { operator: 'All', targetReplicatedJobs: ['x'] },
      coordinator: { replicatedJob: 'x' },
      volumeClaimPolicies: [{ templates: [claim('d')] }],
    };
    const found = validateJobSetCreate(storedJobSet(spec), DEFAULT_FEATURE_GATES);
    expect([...new Set(found.map(({ field }) => field))]).toEqual([
      `${JOBS}.dependsOn`,
      'spec.network.subdomain',
      'spec.managedBy',
      `${JOBS}.groupName`,
      `${JOBS}.name`,
      'spec.successPolicy.targetReplicatedJobs[0]',
      `${RULES}[0].name`,
      'spec.coordinator.replicatedJob',
      'spec.coordinator',
      'spec.replicatedJobs',
    ]);
  });

  test('is judged by a sample of the name that the server will generate', () => {
    const jobSet = { ...storedJobSet(worker({})), metadata: { generateName: 'a'.repeat(70) } };
    const [first] = validateJobSetCreate(jobSet, DEFAULT_FEATURE_GATES);
    expect(first?.field).toBe(`${JOBS}.name`);
    expect(first?.badValue).toMatch(/^a{58}.{5}-w-0$/);
  });
});

describe('without its feature gate', () => {
  test('an in-place restart is refused', () => {
    expect(problems({ ...worker({}), ...IN_PLACE }, {}, { InPlaceRestart: false })).toContain(
      'spec.failurePolicy.restartStrategy: Forbidden: InPlaceRestart restart strategy cannot be set when InPlaceRestart feature gate is disabled',
    );
  });
});

describe('warnings', () => {
  test('tell that a negative maxRestarts allows nothing', () => {
    const spec: JobSetSpec = { ...worker({}), failurePolicy: { maxRestarts: -3 } };
    expect(jobSetWarnings(storedJobSet(spec))).toEqual([
      'spec.failurePolicy.maxRestarts is -3, which allows no restart, as 0 does: the first counted failure fails the JobSet',
    ]);
  });

  test('tell that the first failure of a group without maxRestarts is its last', () => {
    const [first, ...others] = jobSetWarnings(storedJobSet({ ...worker({}), ...IN_PLACE }));
    expect(first).toContain('spec.failurePolicy.maxRestarts is 0');
    expect(others).toEqual([]);
    expect(jobSetWarnings(storedJobSet({ ...worker({}), failurePolicy: {} }))).toEqual([]);
  });

  test.each<readonly [string, readonly string[]]>([
    ['lockstep/restart-mode', []],
    [
      'lockstep/agent-container',
      [
        'metadata.annotations[lockstep/agent-container] has no effect: it belongs in a Pod template',
      ],
    ],
    ['example.com/restart-mode', []],
  ])('tell that the annotation %s of a JobSet means nothing', (key, expected) => {
    const jobSet = storedJobSet(worker({}), { annotations: { [key]: 'Supervisor' } });
    expect(jobSetWarnings(jobSet)).toEqual(expected);
  });

  test('tell what upstream’s webhook stores and an in-place restart hardly means', () => {
    const template = { spec: { containers: [{ name: 'c' }], restartPolicy: 'OnFailure' as const } };
    const failurePolicy = { ...IN_PLACE.failurePolicy, maxRestarts: 3 };
    const spec: JobSetSpec = { ...worker({ template }), failurePolicy };
    expect(problems(spec)).toEqual([]);
    expect(jobSetWarnings(storedJobSet(spec))).toEqual([
      expect.stringContaining('restartPolicy OnFailure'),
    ]);
  });
});

describe('a JobSet that is stored', () => {
  const unactionable = (spec: JobSetSpec): number =>
    validateJobSet(storedJobSet(spec), withDefaults(spec)).length;

  test('is acted on in spite of mistakes that upstream lets pass or that only judge failures', () => {
    expect(unactionable(rules({ name: '1', targetReplicatedJobs: ['x'] }))).toBe(0);
    expect(unactionable({ ...worker({}), coordinator: { replicatedJob: 'x' } })).toBe(0);
    expect(unactionable({ successPolicy: { operator: 'All', targetReplicatedJobs: ['x'] } })).toBe(
      0,
    );
  });

  test.each<readonly [string, Partial<JobSpec>, number, number]>([
    ['completions', { completions: 2, parallelism: 2 }, 1, 0],
    ['neither completions nor parallelism, as a Job of one Pod', {}, 0, 0],
    ['neither, and an index beyond that Pod', {}, 1, 1],
    ['parallelism alone, which the API server takes for no Indexed Job', { parallelism: 2 }, 0, 1],
  ])('has a coordinator whose template says %s', (_what, job, podIndex, problems) => {
    const base = replicatedJob('w');
    const template = { spec: { ...job, template: base.template.spec.template } };
    const coordinator = { replicatedJob: 'w', podIndex };
    expect(unactionable({ replicatedJobs: [{ ...base, template }], coordinator })).toBe(problems);
  });

  test('is not acted on where a rule has the default name of another', () => {
    expect(unactionable(rules({ name: 'failurePolicyRule1' }, { name: '' }))).toBe(1);
    expect(unactionable(rules({ name: '' }, { name: '' }))).toBe(0);
  });

  test('is not acted on where its Jobs could not be created or would never start', () => {
    expect(unactionable(worker({}, { name: 'W' }))).toBeGreaterThan(0);
    expect(
      unactionable({
        replicatedJobs: [{ ...replicatedJob('w'), dependsOn: [{ name: 'w', status: 'Ready' }] }],
      }),
    ).toBe(1);
  });
});
