/**
 * JobSets with only their definition: what it fills in, and what its schema and each of its CEL
 * rules refuse. Neither webhooks nor an operator take part.
 */
import { MERGE, type ScriptedRequest, TABLE } from './scripted-request.ts';

export const JOBSETS = '/apis/jobset.x-k8s.io/v1alpha2/namespaces/conformance/jobsets';

const POD_SPEC = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] };

function workers(job: object = {}, more: object = {}): object {
  return {
    name: 'workers',
    replicas: 1,
    template: { spec: { template: { spec: POD_SPEC }, ...job } },
    ...more,
  };
}

function jobSet(name: string, spec: object, metadata: object = {}): object {
  return {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name, ...metadata },
    spec,
  };
}

function refused(name: string, spec: object, jobSetName = 'refused'): ScriptedRequest {
  return { name, method: 'POST', path: JOBSETS, body: jobSet(jobSetName, spec) };
}

/** A spec with one ReplicatedJob, plus other fields. */
function withWorkers(more: object, job: object = {}): object {
  return { replicatedJobs: [workers(job)], ...more };
}

function changed(name: string, spec: object): ScriptedRequest {
  return { name, method: 'PATCH', path: `${JOBSETS}/js`, headers: MERGE, body: { spec } };
}

const IN_PLACE = { failurePolicy: { maxRestarts: 1, restartStrategy: 'InPlaceRestart' } };

function rule(more: object): object {
  return withWorkers({ failurePolicy: { rules: [{ name: 'a', action: 'FailJobSet', ...more }] } });
}

const LONG = 'a'.repeat(60);

export const JOBSET_REQUESTS: readonly ScriptedRequest[] = [
  {
    name: 'a JobSet with its defaults',
    method: 'POST',
    path: JOBSETS,
    body: jobSet('js', {
      ...withWorkers(
        {
          failurePolicy: { maxRestarts: 3, rules: [{ name: 'r', action: 'FailJobSet' }] },
          successPolicy: { operator: 'All', targetReplicatedJobs: ['workers'] },
          startupPolicy: { startupPolicyOrder: 'InOrder' },
          network: { subdomain: 'net' },
          coordinator: { replicatedJob: 'workers' },
          managedBy: 'conformance.example.com/nobody',
        },
        { completions: 2, parallelism: 2 },
      ),
    }),
  },
  { name: 'JobSets as a table', method: 'GET', path: JOBSETS, headers: TABLE },
  { name: 'JobSets', method: 'GET', path: JOBSETS },
  {
    name: 'a JobSet of nothing',
    method: 'POST',
    path: JOBSETS,
    body: { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', metadata: { name: 'nothing' } },
  },
  refused('a JobSet of wrong types', { replicatedJobs: {}, suspend: 'yes' }),
  refused('a JobSet of unknown values', {
    replicatedJobs: [workers({}, { replicas: -1 })],
    failurePolicy: {
      maxRestarts: -1,
      restartStrategy: 'Never',
      rules: [{ name: 'a', action: 'Cry' }],
    },
    successPolicy: { operator: 'Some' },
    startupPolicy: { startupPolicyOrder: 'Random' },
  }),
  {
    name: 'a JobSet with unknown fields, strictly',
    method: 'POST',
    path: `${JOBSETS}?fieldValidation=Strict`,
    body: jobSet('refused', withWorkers({ replicatedJob: [] }, { completion: 1 })),
  },
  {
    name: 'a JobSet with unknown fields',
    method: 'POST',
    path: `${JOBSETS}?dryRun=All`,
    body: jobSet('refused', withWorkers({ replicatedJob: [] }, { completion: 1 })),
  },
  {
    name: 'a JobSet with members twice',
    method: 'POST',
    path: `${JOBSETS}?fieldValidation=Strict`,
    text: '{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"refused"},"spec":{"suspend":true,"suspend":false,"x":1}}',
  },
  refused('two ReplicatedJobs of one name', { replicatedJobs: [workers(), workers()] }),
  refused('names of Jobs too long', withWorkers({}), LONG),
  refused('names of Pods too long', withWorkers({}, { completions: 10 }), 'a'.repeat(51)),
  refused('a name that begins with a digit', withWorkers({}), '1a'),
  refused('a bad name of a ReplicatedJob', { replicatedJobs: [workers({}, { name: 'A_b' })] }),
  refused('a bad group name', { replicatedJobs: [workers({}, { groupName: 'A_b' })] }),
  refused('a long group name', { replicatedJobs: [workers({}, { groupName: 'a'.repeat(64) })] }),
  refused('a bad subdomain', withWorkers({ network: { subdomain: 'A_b' } })),
  refused('a long subdomain', withWorkers({ network: { subdomain: 'a'.repeat(64) } })),
  refused('too many Pods', {
    replicatedJobs: [workers({ parallelism: 2_000_000_000 }, { replicas: 2 })],
  }),
  refused('a ReplicatedJob that depends on itself', {
    replicatedJobs: [
      workers({}, { name: 'first' }),
      workers({}, { dependsOn: [{ name: 'workers', status: 'Ready' }] }),
    ],
  }),
  refused('a first ReplicatedJob that depends on another', {
    replicatedJobs: [
      workers({}, { name: 'first', dependsOn: [{ name: 'workers', status: 'Ready' }] }),
      workers(),
    ],
  }),
  refused('a ReplicatedJob that depends on none', {
    replicatedJobs: [
      workers({}, { name: 'first' }),
      workers({}, { dependsOn: [{ name: 'none', status: 'Complete' }] }),
    ],
  }),
  refused('order and dependencies', {
    startupPolicy: { startupPolicyOrder: 'InOrder' },
    replicatedJobs: [
      workers({}, { name: 'first' }),
      workers({}, { dependsOn: [{ name: 'first', status: 'Ready' }] }),
    ],
  }),
  refused('in place with a backoff limit', withWorkers(IN_PLACE, { backoffLimit: 6 })),
  refused(
    'in place with an early replacement',
    withWorkers(IN_PLACE, { podReplacementPolicy: 'TerminatingOrFailed' }),
  ),
  refused(
    'in place with fewer Pods than completions',
    withWorkers(IN_PLACE, { completions: 3, parallelism: 2 }),
  ),
  refused(
    'success of none',
    withWorkers({ successPolicy: { operator: 'Any', targetReplicatedJobs: ['none'] } }),
  ),
  refused('failure of none', rule({ targetReplicatedJobs: ['none'] })),
  refused('restart of one Job of too many', {
    replicatedJobs: [workers({}, { replicas: 3000 })],
    failurePolicy: { rules: [{ name: 'a', action: 'RestartJob' }] },
  }),
  refused('a coordinator in none', withWorkers({ coordinator: { replicatedJob: 'none' } })),
  refused(
    'a coordinator in a Job that is not there',
    withWorkers({ coordinator: { replicatedJob: 'workers', jobIndex: 1 } }, { completions: 1 }),
  ),
  refused(
    'a coordinator without an index',
    withWorkers(
      { coordinator: { replicatedJob: 'workers' } },
      { completions: 1, completionMode: 'NonIndexed' },
    ),
  ),
  refused(
    'a coordinator of a Pod that is not there',
    withWorkers({ coordinator: { replicatedJob: 'workers', podIndex: 1 } }, { completions: 1 }),
  ),
  refused('a rule whose name is too long', rule({ name: 'a'.repeat(129) })),
  refused('a rule of a bad name', rule({ name: '1-' })),
  refused(
    'two rules of one name',
    withWorkers({
      failurePolicy: {
        rules: [
          { name: 'a', action: 'FailJobSet' },
          { name: 'a', action: 'RestartJobSet' },
        ],
      },
    }),
  ),
  refused('a rule for a reason that is none', rule({ onJobFailureReasons: ['Boredom'] })),
  refused(
    'a claim for another namespace',
    withWorkers({
      volumeClaimPolicies: [
        { templates: [{ metadata: { name: 'c', namespace: 'default' }, spec: {} }] },
      ],
    }),
  ),

  changed('change the ReplicatedJobs', {
    replicatedJobs: [workers({ completions: 2, parallelism: 2 }, { name: 'others' })],
  }),
  changed('remove the ReplicatedJobs', { replicatedJobs: null }),
  changed('change the manager', { managedBy: 'conformance.example.com/other' }),
  changed('remove the manager', { managedBy: null }),
  changed('change the order', { startupPolicy: { startupPolicyOrder: 'AnyOrder' } }),
  changed('change the success policy', { successPolicy: { operator: 'Any' } }),
  changed('change the network', { network: { enableDNSHostnames: false } }),
  changed('change the failure policy', { failurePolicy: { maxRestarts: 4 } }),
  changed('change the coordinator', { coordinator: { jobIndex: 0, podIndex: 1 } }),
  changed('suspend', { suspend: true }),
  {
    name: 'the status of a JobSet',
    method: 'PATCH',
    path: `${JOBSETS}/js/status`,
    headers: MERGE,
    body: {
      spec: { suspend: false },
      status: {
        restarts: 1,
        conditions: [{ type: 'Suspended', status: 'True', reason: 'x', message: 'y' }],
        replicatedJobsStatus: [
          { name: 'workers', ready: 1, succeeded: 0, failed: 0, active: 1, suspended: 0 },
        ],
      },
    },
  },
  {
    name: 'a bad status of a JobSet',
    method: 'PATCH',
    path: `${JOBSETS}/js/status`,
    headers: MERGE,
    body: { status: { restarts: -1, replicatedJobsStatus: [{ name: 'workers' }] } },
  },
  { name: 'delete a JobSet', method: 'DELETE', path: `${JOBSETS}/js` },
];
