/**
 * Combinations of limits, counts and rules: simultaneous failures, limits that change, state that
 * must be kept.
 */
import { DELETED_AND_LET_GO } from './job-failure-scenarios.ts';
import type { JobScenario } from './job-play.ts';
import { INDEXED, onExit, PER_INDEX, THREE, template } from './job-shapes.ts';

const ONE = { ...INDEXED, completions: 1, parallelism: 1 } as const;

/** A deleted Pod and its replacement both succeed. */
const BOTH_SUCCEED: JobScenario['steps'] = [
  ['it runs', (play) => play.run({ any: 1 })],
  ['a user deletes it', (play) => play.delete({ any: 1 })],
  ['12 s pass', (play) => play.pass(12)],
  [
    'it succeeds, and its replacement',
    async (play) => {
      // In this order: a Job that sees only the replacement's success waits for the deleted Pod.
      await play.end('deleted', 0);
      await play.end({ any: 1 }, 0);
    },
  ],
  ['the kubelet lets it go', (play) => play.release()],
];

export const LIMIT_SCENARIOS: readonly JobScenario[] = [
  {
    name: 'two Pods fail at once, which are two failures',
    spec: THREE,
    steps: [
      ['0 and 1 fail', (play) => play.end({ any: 2 }, 1)],
      ['12 s pass', (play) => play.pass(12)],
      ['10 s more pass', (play) => play.pass(10)],
    ],
  },
  {
    name: 'the limit is raised before it is reached, and lowered below what has failed',
    spec: { ...THREE, backoffLimit: 1 },
    steps: [
      ['0 fails', (play) => play.end({ index: 0 }, 1)],
      ['three failures are allowed', (play) => play.change({ backoffLimit: 3 })],
      ['1 fails', (play) => play.end({ index: 1 }, 1)],
      ['one is', (play) => play.change({ backoffLimit: 1 })],
      ['the kubelet lets go what goes', (play) => play.release()],
    ],
  },
  {
    name: 'a deleted Pod and its replacement succeed',
    spec: ONE,
    steps: BOTH_SUCCEED,
  },
  {
    name: 'a deleted Pod and its replacement succeed, without indexes',
    spec: { completions: 1, parallelism: 1 },
    steps: BOTH_SUCCEED,
  },
  {
    name: 'the second rule of a success policy is met, by all of its indexes',
    spec: {
      ...THREE,
      successPolicy: { rules: [{ succeededCount: 3 }, { succeededIndexes: '0,2' }] },
    },
    steps: [
      ['0 succeeds', (play) => play.end({ index: 0 }, 0)],
      ['1 fails', (play) => play.end({ index: 1 }, 1)],
      ['2 succeeds', (play) => play.end({ index: 2 }, 0)],
      ['the kubelet lets go what goes', (play) => play.release()],
    ],
  },
  {
    name: 'a success policy is met by indexes while others have failed for good',
    spec: {
      ...THREE,
      backoffLimitPerIndex: 0,
      successPolicy: { rules: [{ succeededIndexes: '2' }] },
    },
    steps: [
      ['0 fails', (play) => play.end({ index: 0 }, 1)],
      ['2 succeeds', (play) => play.end({ index: 2 }, 0)],
      ['the kubelet lets go what goes', (play) => play.release()],
    ],
  },
  {
    name: 'an index that has failed remembers it over a suspension',
    spec: PER_INDEX,
    steps: [
      ['0 fails', (play) => play.end({ index: 0 }, 1)],
      ['suspended', (play) => play.change({ suspend: true })],
      ['the kubelet lets go what goes', (play) => play.release()],
      ['12 s pass', (play) => play.pass(12)],
      ['resumed', (play) => play.change({ suspend: false })],
      ['0 fails again', (play) => play.end({ index: 0 }, 1)],
      ['1 succeeds', (play) => play.end({ index: 1 }, 0)],
    ],
  },
  {
    name: 'a deleted Pod of an index is replaced when it has failed',
    spec: { ...PER_INDEX, podReplacementPolicy: 'Failed' },
    steps: DELETED_AND_LET_GO,
  },
  {
    name: 'a Pod fails that shows no container',
    spec: {
      ...INDEXED,
      podFailurePolicy: {
        rules: [{ action: 'FailJob', onExitCodes: { operator: 'NotIn', values: [1] } }],
      },
    },
    steps: [
      ['0 is evicted before it began', (play) => play.evict({ index: 0 })],
      ['12 s pass', (play) => play.pass(12)],
    ],
  },
  {
    name: 'a failure policy of several kinds, and no rule for what happens',
    spec: {
      ...INDEXED,
      backoffLimit: 0,
      podFailurePolicy: {
        rules: [
          onExit('Ignore', 3),
          { action: 'FailJob', onPodConditions: [{ type: 'DisruptionTarget', status: 'False' }] },
        ],
      },
    },
    steps: [
      ['0 is disrupted, and exits 3', (play) => play.end({ index: 0 }, 3, 'DisruptionTarget')],
      ['12 s pass', (play) => play.pass(12)],
      ['1 exits 4', (play) => play.end({ index: 1 }, 4)],
      ['the kubelet lets go what goes', (play) => play.release()],
    ],
  },
  {
    name: 'a Job that is over is given some seconds to go',
    spec: ONE,
    steps: [
      ['it succeeds', (play) => play.end({ any: 1 }, 0)],
      ['4 s', (play) => play.change({ ttlSecondsAfterFinished: 4 })],
      ['6 s pass', (play) => play.pass(6)],
    ],
  },
  {
    name: 'a failed Job goes at once',
    spec: { ...ONE, backoffLimit: 0, ttlSecondsAfterFinished: 0 },
    steps: [['it fails', (play) => play.end({ any: 1 }, 1)]],
  },
  {
    name: 'the Job controller is named as the one in charge',
    spec: { ...ONE, managedBy: 'kubernetes.io/job-controller' },
    steps: [['it succeeds', (play) => play.end({ any: 1 }, 0)]],
  },
  {
    name: 'no restart is allowed under OnFailure',
    spec: { ...INDEXED, backoffLimit: 0, template: template({ restartPolicy: 'OnFailure' }) },
    steps: [
      ['both run', (play) => play.run({ any: 2 })],
      ['0 restarted', (play) => play.run({ index: 0 }, { restarts: 1 })],
      ['the kubelet lets go what goes', (play) => play.release()],
    ],
  },
  {
    name: 'restarts of containers do not count under Never',
    spec: { ...INDEXED, backoffLimit: 1 },
    steps: [
      ['both run', (play) => play.run({ any: 2 })],
      ['each restarted three times', (play) => play.run({ any: 2 }, { restarts: 3 })],
      ['0 fails', (play) => play.end({ index: 0 }, 1)],
      ['12 s pass', (play) => play.pass(12)],
    ],
  },
  {
    name: 'failures and a deadline, while it is suspended',
    spec: { ...INDEXED, activeDeadlineSeconds: 4, suspend: true },
    steps: [
      ['6 s pass', (play) => play.pass(6)],
      ['no deadline', (play) => play.change({ activeDeadlineSeconds: null, suspend: false })],
      ['6 s more pass', (play) => play.pass(6)],
      ['a deadline of 60 s', (play) => play.change({ activeDeadlineSeconds: 60 })],
    ],
  },
];
