/** How Pods of Jobs fail, are replaced or not, and end their Job. */
import type { JobScenario } from './job-play.ts';
import { INDEXED, onExit, PER_INDEX, THREE, template } from './job-shapes.ts';

/** A user deletes one of two Pods, which takes a while to end. */
export const DELETED_AND_LET_GO: JobScenario['steps'] = [
  ['both run', (play) => play.run({ any: 2 })],
  ['a user deletes 0', (play) => play.delete({ index: 0 })],
  ['12 s pass', (play) => play.pass(12)],
  ['the kubelet ends 0', (play) => play.end({ index: 0 }, 137)],
  ['and lets it go', (play) => play.release()],
  ['12 s more pass', (play) => play.pass(12)],
];

export const FAILURE_SCENARIOS: readonly JobScenario[] = [
  {
    name: 'a work queue whose worker fails first',
    spec: { parallelism: 2 },
    steps: [
      ['one fails', (play) => play.end({ any: 1 }, 1)],
      ['12 s pass', (play) => play.pass(12)],
      ['one succeeds', (play) => play.end({ any: 1 }, 0)],
      ['the other succeeds', (play) => play.end({ any: 1 }, 0)],
    ],
  },
  {
    name: 'the first failure is one too many',
    spec: { ...INDEXED, backoffLimit: 0 },
    steps: [
      ['both run', (play) => play.run({ any: 2 })],
      ['0 fails', (play) => play.end({ index: 0 }, 1)],
      ['the kubelet ends 1', (play) => play.end({ index: 1 }, 137)],
      ['and lets it go', (play) => play.release()],
    ],
  },
  {
    name: 'a failed Pod is replaced after 10 s, the next after 20 s',
    spec: { ...INDEXED, completions: 1, parallelism: 1 },
    steps: [
      ['it fails', (play) => play.end({ index: 0 }, 1)],
      ['12 s pass', (play) => play.pass(12)],
      ['it fails again', (play) => play.end({ index: 0 }, 1)],
      ['8 s pass', (play) => play.pass(8)],
      ['20 s more pass', (play) => play.pass(20)],
      ['it succeeds', (play) => play.end({ index: 0 }, 0)],
    ],
  },
  {
    name: 'after a success a failed Pod is replaced at once',
    spec: { ...THREE, parallelism: 2 },
    steps: [
      ['0 fails', (play) => play.end({ index: 0 }, 1)],
      ['1 succeeds later', (play) => play.end({ index: 1 }, 0)],
    ],
  },
  {
    name: 'restarts of containers count under OnFailure',
    spec: { ...INDEXED, backoffLimit: 2, template: template({ restartPolicy: 'OnFailure' }) },
    steps: [
      ['both run', (play) => play.run({ any: 2 })],
      ['0 restarted', (play) => play.run({ index: 0 }, { restarts: 1 })],
      ['1 restarted', (play) => play.run({ index: 1 }, { restarts: 1 })],
      ['the kubelet lets them go', (play) => play.release()],
    ],
  },
  {
    name: 'a Pod that is being deleted fails by itself after the limit was reached',
    spec: { ...INDEXED, backoffLimit: 1, template: template({ restartPolicy: 'OnFailure' }) },
    steps: [
      ['both run', (play) => play.run({ any: 2 })],
      ['a user deletes 0', (play) => play.delete({ index: 0 })],
      ['the old 0 restarted', (play) => play.run({ any: 1 }, { restarts: 1 })],
    ],
  },
  {
    name: 'the Pod failure policy fails the Job',
    spec: {
      ...INDEXED,
      podFailurePolicy: { rules: [onExit('Ignore', 1), onExit('FailJob', 42)] },
    },
    steps: [
      ['both run', (play) => play.run({ any: 2 })],
      ['0 exits 42', (play) => play.end({ index: 0 }, 42)],
      ['1 ends too', (play) => play.end({ index: 1 }, 137)],
      ['and goes', (play) => play.release()],
    ],
  },
  {
    name: 'the Pod failure policy ignores a disruption',
    spec: {
      ...INDEXED,
      backoffLimit: 0,
      podFailurePolicy: {
        rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }],
      },
    },
    steps: [
      ['0 is disrupted', (play) => play.end({ index: 0 }, 137, 'DisruptionTarget')],
      ['12 s pass', (play) => play.pass(12)],
      ['1 fails', (play) => play.end({ index: 1 }, 1)],
      ['the kubelet lets it go', (play) => play.release()],
    ],
  },
  {
    name: 'the Pod failure policy counts',
    spec: { ...INDEXED, podFailurePolicy: { rules: [onExit('Count', 1), onExit('FailJob', 1)] } },
    steps: [
      ['0 exits 1', (play) => play.end({ index: 0 }, 1)],
      ['12 s pass', (play) => play.pass(12)],
    ],
  },
  {
    name: 'each index has a limit of its own',
    spec: PER_INDEX,
    steps: [
      ['0 fails', (play) => play.end({ index: 0 }, 1)],
      ['11 s pass', (play) => play.pass(11)],
      ['0 fails again', (play) => play.end({ index: 0 }, 1)],
      ['1 succeeds', (play) => play.end({ index: 1 }, 0)],
    ],
  },
  {
    name: 'too many indexes fail',
    spec: { ...THREE, backoffLimitPerIndex: 0, maxFailedIndexes: 1 },
    steps: [
      ['0 fails', (play) => play.end({ index: 0 }, 1)],
      ['1 fails', (play) => play.end({ index: 1 }, 1)],
      ['the kubelet lets 2 go', (play) => play.release()],
    ],
  },
  {
    name: 'an index fails at once',
    spec: { ...PER_INDEX, podFailurePolicy: { rules: [onExit('FailIndex', 42)] } },
    steps: [
      ['0 exits 42', (play) => play.end({ index: 0 }, 42)],
      ['1 succeeds', (play) => play.end({ index: 1 }, 0)],
    ],
  },
  {
    name: 'an ignored failure of an index is counted on its Pod',
    spec: { ...PER_INDEX, podFailurePolicy: { rules: [onExit('Ignore', 3)] } },
    steps: [
      ['0 exits 3', (play) => play.end({ index: 0 }, 3)],
      ['11 s pass', (play) => play.pass(11)],
      ['0 exits 1', (play) => play.end({ index: 0 }, 1)],
      ['21 s pass', (play) => play.pass(21)],
    ],
  },
  {
    name: 'a success policy ends what still runs',
    spec: { ...THREE, successPolicy: { rules: [{ succeededIndexes: '1,2', succeededCount: 1 }] } },
    steps: [
      ['all run', (play) => play.run({ any: 3 })],
      ['0 succeeds', (play) => play.end({ index: 0 }, 0)],
      ['2 succeeds', (play) => play.end({ index: 2 }, 0)],
      ['the kubelet ends 1', (play) => play.end({ index: 1 }, 137)],
      ['and lets it go', (play) => play.release()],
    ],
  },
  {
    name: 'a success policy, and Pods that are replaced late',
    spec: {
      ...THREE,
      podReplacementPolicy: 'Failed',
      successPolicy: { rules: [{ succeededCount: 1 }] },
    },
    steps: [
      ['all run', (play) => play.run({ any: 3 })],
      ['a user deletes 1', (play) => play.delete({ index: 1 })],
      ['2 succeeds', (play) => play.end({ index: 2 }, 0)],
      ['the kubelet lets them go', (play) => play.release()],
    ],
  },
  {
    name: 'a deleted Pod is replaced when it has failed',
    spec: { ...INDEXED, podReplacementPolicy: 'Failed' },
    steps: DELETED_AND_LET_GO,
  },
  {
    name: 'a Job that is not to be retried loses a Pod to a user',
    spec: { ...INDEXED, backoffLimit: 0 },
    steps: [
      ['both run', (play) => play.run({ any: 2 })],
      ['a user deletes 0', (play) => play.delete({ index: 0 })],
      ['the kubelet lets both go', (play) => play.release()],
    ],
  },
  {
    name: 'Pods fail while the Job is being suspended',
    spec: { ...THREE, backoffLimit: 1 },
    steps: [
      ['all run', (play) => play.run({ any: 3 })],
      ['0 fails', (play) => play.end({ index: 0 }, 1)],
      ['suspended', (play) => play.change({ suspend: true })],
      ['the kubelet ends 1', (play) => play.end({ index: 1 }, 1)],
      ['and lets both go', (play) => play.release()],
      ['resumed', (play) => play.change({ suspend: false })],
      ['12 s pass', (play) => play.pass(12)],
    ],
  },
  {
    name: 'deleted Pods count for their index',
    spec: PER_INDEX,
    steps: [
      ['a user deletes 0', (play) => play.delete({ index: 0 })],
      ['12 s pass', (play) => play.pass(12)],
      ['the kubelet lets it go', (play) => play.release()],
      ['a user deletes 0 again', (play) => play.delete({ index: 0 })],
      ['1 succeeds', (play) => play.end({ index: 1 }, 0)],
      ['the kubelet lets 0 go', (play) => play.release()],
    ],
  },
  {
    name: 'indexes fail and succeed by turns, few at a time',
    spec: { ...THREE, parallelism: 1, backoffLimitPerIndex: 0 },
    steps: [
      ['0 fails', (play) => play.end({ index: 0 }, 1)],
      ['1 succeeds', (play) => play.end({ index: 1 }, 0)],
      ['2 fails', (play) => play.end({ index: 2 }, 1)],
    ],
  },
  {
    name: 'the Pod failure policy looks at init containers and at one container alone',
    spec: {
      ...INDEXED,
      podFailurePolicy: {
        rules: [
          {
            action: 'FailJob',
            onExitCodes: { containerName: 'other', operator: 'NotIn', values: [9] },
          },
          { action: 'Ignore', onExitCodes: { operator: 'NotIn', values: [5] } },
        ],
      },
      template: template({
        containers: [
          { name: 'main', image: 'none' },
          { name: 'other', image: 'none' },
        ],
      }),
    },
    steps: [
      ['0 exits 3', (play) => play.end({ index: 0 }, 3)],
      ['1 exits 5', (play) => play.end({ index: 1 }, 5)],
      ['12 s pass', (play) => play.pass(12)],
    ],
  },
  {
    name: 'an elastic Job shrinks below what has failed',
    spec: { ...THREE, backoffLimitPerIndex: 0 },
    steps: [
      ['2 fails', (play) => play.end({ index: 2 }, 1)],
      ['two', (play) => play.change({ completions: 2, parallelism: 2 })],
      ['0 succeeds', (play) => play.end({ index: 0 }, 0)],
      ['1 succeeds', (play) => play.end({ index: 1 }, 0)],
    ],
  },
  {
    name: 'more at a time while a failure is waited for',
    spec: { completions: 5, parallelism: 1 },
    steps: [
      ['it fails', (play) => play.end({ any: 1 }, 1)],
      ['three at a time', (play) => play.change({ parallelism: 3 })],
      ['12 s pass', (play) => play.pass(12)],
    ],
  },
];
