/** What the status of a Job may say, step by step, as a Job controller writes it. */
import { MERGE, type ScriptedRequest } from './scripted-request.ts';

const JOBS = '/apis/batch/v1/namespaces/conformance/jobs';

function status(name: string, value: object, job = 'told'): ScriptedRequest {
  return {
    name,
    method: 'PATCH',
    path: `${JOBS}/${job}/status`,
    headers: MERGE,
    body: { status: value },
  };
}

function told(name: string, job: string, spec: object = {}): ScriptedRequest {
  const template = {
    spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] },
  };
  return {
    name,
    method: 'POST',
    path: JOBS,
    body: {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: job },
      spec: { managedBy: 'conformance.example.com/nobody', template, ...spec },
    },
  };
}

const START = '2026-01-01T00:00:00Z';
const LATER = '2026-01-02T00:00:00Z';

function condition(type: string, value = 'True'): object {
  return { type, status: value, lastProbeTime: START, lastTransitionTime: START };
}

export const JOB_STATUS_REQUESTS: readonly ScriptedRequest[] = [
  told('a Job to tell of', 'told', { completionMode: 'Indexed', completions: 3, parallelism: 2 }),
  status('negative counters', {
    active: -1,
    succeeded: -1,
    failed: -1,
    ready: -1,
    terminating: -1,
  }),
  status('counters', { startTime: START, active: 2, ready: 1, terminating: 1, failed: 1 }),
  status('another start', { startTime: LATER }),
  status('fewer failures', { failed: 0 }),
  status('an end that has not come', { completionTime: LATER }),
  status('indexes that are none', { completedIndexes: '2,1' }),
  status('indexes beyond the last', { completedIndexes: '0-3' }),
  status('failed indexes without their limit', { failedIndexes: '0' }),
  status('uncounted Pods', { uncountedTerminatedPods: { succeeded: ['a'], failed: ['a'] } }),
  status('indexes', { succeeded: 2, completedIndexes: '0-1' }),
  status('Failed with neither target nor end', { conditions: [condition('Failed')] }),
  status('Complete and Failed', { conditions: [condition('Complete'), condition('Failed')] }),
  status('two ends to come', {
    conditions: [condition('FailureTarget'), condition('SuccessCriteriaMet')],
  }),
  status('success to come', { conditions: [condition('SuccessCriteriaMet')] }),
  status('no success any more', { conditions: [] }),
  status('Complete', {
    conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
    active: 0,
    ready: 0,
    terminating: 0,
    completionTime: LATER,
    uncountedTerminatedPods: null,
  }),
  status('not Complete any more', { conditions: [condition('SuccessCriteriaMet')] }),
  status('another end', { completionTime: START }),
  told('a Job to fail', 'failing', {
    completionMode: 'Indexed',
    completions: 2,
    backoffLimitPerIndex: 1,
  }),
  status('start', { startTime: START, active: 1 }, 'failing'),
  status('failed indexes', { failedIndexes: '0', failed: 2 }, 'failing'),
  status('both kinds of indexes', { completedIndexes: '0', failedIndexes: '0' }, 'failing'),
  status('failure to come', { conditions: [condition('FailureTarget')] }, 'failing'),
  status(
    'success instead',
    {
      conditions: [condition('FailureTarget'), condition('Complete')],
      active: 0,
      completionTime: LATER,
    },
    'failing',
  ),
  status(
    'Failed',
    { conditions: [condition('FailureTarget'), condition('Failed')], active: 0 },
    'failing',
  ),
  told('a Job to suspend', 'suspended', { suspend: true }),
  status('Suspended', { conditions: [condition('Suspended')] }, 'suspended'),
  {
    name: 'a suspended Job changes where it runs',
    method: 'PATCH',
    path: `${JOBS}/suspended`,
    headers: MERGE,
    body: {
      spec: {
        template: {
          metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
          spec: {
            nodeSelector: { a: 'b' },
            tolerations: [{ key: 'x', operator: 'Exists' }],
            containers: [{ name: 'main', image: 'none', resources: { limits: { cpu: '1' } } }],
          },
        },
      },
    },
  },
  {
    name: 'delete a Job and leave its Pods',
    method: 'DELETE',
    path: `${JOBS}/suspended`,
    body: { propagationPolicy: 'Background', gracePeriodSeconds: 0 },
  },
];
