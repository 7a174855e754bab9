/** Jobs. Their controller does not exist, so only the script changes them. */
import { MERGE, type ScriptedRequest, TABLE } from './scripted-request.ts';

const JOBS = '/apis/batch/v1/namespaces/conformance/jobs';

function job(name: string, spec: object, podSpec: object = {}): object {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: {
      managedBy: 'conformance.example.com/nobody',
      template: {
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }], ...podSpec },
      },
      ...spec,
    },
  };
}

export const JOB_REQUESTS: readonly ScriptedRequest[] = [
  { name: 'a Job with its defaults', method: 'POST', path: JOBS, body: job('j', {}) },
  {
    name: 'an Indexed Job',
    method: 'POST',
    path: JOBS,
    body: job('i', { completionMode: 'Indexed', completions: 2, parallelism: 2 }),
  },
  {
    name: 'a Job with many mistakes',
    method: 'POST',
    path: JOBS,
    body: job(
      'x',
      {
        completionMode: 'Indexed',
        parallelism: -1,
        backoffLimit: -1,
        activeDeadlineSeconds: -1,
        ttlSecondsAfterFinished: -1,
        maxFailedIndexes: 1,
        podReplacementPolicy: 'Later',
        podFailurePolicy: {
          rules: [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [0, 3, 2] } }],
        },
        successPolicy: { rules: [] },
        managedBy: 'no-domain',
      },
      { restartPolicy: 'Always' },
    ),
  },
  {
    name: 'a Job with a selector of its own',
    method: 'POST',
    path: JOBS,
    body: job('x', { selector: { matchLabels: { a: 'b' } } }),
  },
  {
    name: 'a Job that changes what it may not',
    method: 'PATCH',
    path: `${JOBS}/i`,
    headers: MERGE,
    body: { spec: { completionMode: 'NonIndexed', backoffLimitPerIndex: 1, completions: 5 } },
  },
  {
    name: 'an elastic Job',
    method: 'PATCH',
    path: `${JOBS}/i`,
    headers: MERGE,
    body: { spec: { completions: 3, parallelism: 3 } },
  },
  {
    name: 'a template that changes on a Job that is not suspended',
    method: 'PATCH',
    path: `${JOBS}/i`,
    headers: MERGE,
    body: { spec: { template: { spec: { nodeSelector: { a: 'b' } } } } },
  },
  {
    name: 'a Job completed by hand, wrongly',
    method: 'PATCH',
    path: `${JOBS}/i/status`,
    headers: MERGE,
    body: {
      status: { conditions: [{ type: 'Complete', status: 'True' }], active: 1, ready: 2 },
    },
  },
  {
    name: 'Jobs as a table',
    method: 'GET',
    path: `${JOBS}?fieldSelector=metadata.name%3Dj`,
    headers: TABLE,
  },
];
