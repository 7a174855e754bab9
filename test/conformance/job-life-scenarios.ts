/** How Jobs run, pause, grow, shrink, adopt Pods, and succeed. */
import type { JobScenario } from './job-play.ts';
import { INDEXED, THREE, template } from './job-shapes.ts';

export const LIFE_SCENARIOS: readonly JobScenario[] = [
  {
    name: 'an Indexed Job succeeds index by index',
    spec: INDEXED,
    steps: [
      ['both run', (play) => play.run({ any: 2 })],
      ['1 succeeds', (play) => play.end({ index: 1 }, 0)],
      ['0 succeeds', (play) => play.end({ index: 0 }, 0)],
    ],
  },
  {
    name: 'a Job without indexes runs one Pod after the other',
    spec: { completions: 2, parallelism: 1 },
    steps: [
      ['the first runs', (play) => play.run({ any: 1 })],
      ['it succeeds', (play) => play.end({ any: 1 }, 0)],
      ['the second succeeds', (play) => play.end({ any: 1 }, 0)],
    ],
  },
  {
    name: 'a work queue is empty once a worker says so',
    spec: { parallelism: 3 },
    steps: [
      ['all run', (play) => play.run({ any: 3 })],
      ['one succeeds', (play) => play.end({ any: 1 }, 0)],
      ['one fails', (play) => play.end({ any: 1 }, 1)],
      ['the last succeeds', (play) => play.end({ any: 1 }, 0)],
    ],
  },
  {
    name: 'a Job without completions to reach',
    spec: { completions: 0, parallelism: 0 },
    steps: [],
  },
  {
    name: 'a Job of no completions that is suspended',
    spec: { completions: 0, suspend: true },
    steps: [],
  },
  {
    name: 'suspended and resumed',
    spec: INDEXED,
    steps: [
      ['both run', (play) => play.run({ any: 2 })],
      ['suspended', (play) => play.change({ suspend: true })],
      ['the kubelet lets them go', (play) => play.release()],
      ['resumed', (play) => play.change({ suspend: false })],
    ],
  },
  {
    name: 'created suspended, resumed, and late',
    spec: { ...INDEXED, suspend: true, activeDeadlineSeconds: 4 },
    steps: [
      ['6 s pass', (play) => play.pass(6)],
      ['resumed', (play) => play.change({ suspend: false })],
      ['5 s pass', (play) => play.pass(5)],
      ['the kubelet lets them go', (play) => play.release()],
    ],
  },
  {
    name: 'a deadline that is set later',
    spec: INDEXED,
    steps: [
      ['a deadline that has passed', (play) => play.change({ activeDeadlineSeconds: 1 })],
      ['the kubelet lets them go', (play) => play.release()],
    ],
  },
  {
    name: 'a deleted Pod is replaced while it still ends',
    spec: INDEXED,
    steps: [
      ['both run', (play) => play.run({ any: 2 })],
      ['a user deletes 0', (play) => play.delete({ index: 0 })],
      ['12 s pass', (play) => play.pass(12)],
      ['the kubelet lets it go', (play) => play.release()],
    ],
  },
  {
    name: 'fewer at a time, none, more',
    spec: { completions: 9, parallelism: 3 },
    steps: [
      ['one runs', (play) => play.run({ any: 1 })],
      ['one at a time', (play) => play.change({ parallelism: 1 })],
      ['paused', (play) => play.change({ parallelism: 0 })],
      ['two at a time', (play) => play.change({ parallelism: 2 })],
    ],
  },
  {
    name: 'an elastic Job grows and shrinks',
    spec: THREE,
    steps: [
      ['2 succeeds', (play) => play.end({ index: 2 }, 0)],
      ['four', (play) => play.change({ completions: 4, parallelism: 4 })],
      ['two', (play) => play.change({ completions: 2, parallelism: 2 })],
      ['0 succeeds', (play) => play.end({ index: 0 }, 0)],
      ['1 succeeds', (play) => play.end({ index: 1 }, 0)],
      ['the kubelet lets go what goes', (play) => play.release()],
    ],
  },
  {
    name: 'another controller is in charge',
    spec: { ...INDEXED, managedBy: 'example.com/another' },
    steps: [],
  },
  {
    name: 'a Job goes some seconds after its end',
    spec: { completions: 1, ttlSecondsAfterFinished: 4 },
    steps: [
      ['it succeeds', (play) => play.end({ any: 1 }, 0)],
      ['6 s pass', (play) => play.pass(6)],
    ],
  },
  {
    name: 'a Job adopts Pods that it selects, and lets go of those that it does not',
    spec: {
      completions: 4,
      parallelism: 2,
      manualSelector: true,
      selector: { matchLabels: { app: 'x' } },
      template: template({}, { app: 'x' }),
    },
    steps: [
      ['one is not of it any more', (play) => play.label({ any: 1 }, { app: 'y' })],
      ['one too many', (play) => play.bare({ app: 'x' })],
    ],
  },
  {
    name: 'an adopted Pod counts',
    spec: {
      completions: 2,
      parallelism: 0,
      manualSelector: true,
      selector: { matchLabels: { app: 'x' } },
      template: template({}, { app: 'x' }),
    },
    steps: [
      [
        'two at a time, one to adopt',
        async (play) => {
          await play.bare({ app: 'x' });
          await play.change({ parallelism: 2 });
        },
      ],
      ['one succeeds', (play) => play.end({ any: 1 }, 0)],
      ['the other succeeds', (play) => play.end({ any: 1 }, 0)],
    ],
  },
  {
    name: 'a Job that is over adopts nobody',
    spec: {
      completions: 1,
      manualSelector: true,
      selector: { matchLabels: { app: 'x' } },
      template: template({}, { app: 'x' }),
    },
    steps: [
      ['it succeeds', (play) => play.end({ any: 1 }, 0)],
      ['a Pod that it would select', (play) => play.bare({ app: 'x' })],
    ],
  },
  {
    name: 'a work queue with fewer workers after a success',
    spec: { parallelism: 3 },
    steps: [
      ['one succeeds', (play) => play.end({ any: 1 }, 0)],
      ['one at a time', (play) => play.change({ parallelism: 1 })],
      ['four at a time', (play) => play.change({ parallelism: 4 })],
      ['a user deletes one', (play) => play.delete({ any: 1 })],
      ['the kubelet lets it go', (play) => play.release()],
    ],
  },
  {
    name: 'Pods without an index, and of a taken one, go',
    spec: {
      ...INDEXED,
      manualSelector: true,
      selector: { matchLabels: { app: 'x' } },
      template: template({}, { app: 'x' }),
    },
    steps: [
      ['one without', (play) => play.bare({ app: 'x' })],
      [
        'one of 7',
        (play) =>
          play.bare(
            { app: 'x' },
            { annotations: { 'batch.kubernetes.io/job-completion-index': '7' } },
          ),
      ],
      ['the kubelet lets them go', (play) => play.release()],
    ],
  },
  {
    name: 'a deadline counts from the last resume',
    spec: { ...INDEXED, activeDeadlineSeconds: 8 },
    steps: [
      ['suspended', (play) => play.change({ suspend: true })],
      ['10 s pass', (play) => play.pass(10)],
      ['resumed', (play) => play.change({ suspend: false })],
      ['10 s more pass', (play) => play.pass(10)],
    ],
  },
  {
    name: 'a Job that is suspended is deleted',
    spec: { ...INDEXED, suspend: true },
    steps: [['deleted', (play) => play.deleteJob('Foreground')]],
  },
  {
    name: 'an ended Pod is deleted, and so is one without its finalizer',
    spec: { ...THREE, parallelism: 2 },
    steps: [
      ['0 succeeds', (play) => play.end({ index: 0 }, 0)],
      ['a user takes the finalizer off 1', (play) => play.untrack({ index: 1 })],
      ['and 1 succeeds', (play) => play.end({ index: 1 }, 0)],
    ],
  },
  {
    name: 'a Pod of nobody that wears the finalizer',
    spec: INDEXED,
    steps: [
      [
        'it comes to be',
        (play) => play.bare({ app: 'x' }, { finalizers: ['batch.kubernetes.io/job-tracking'] }),
      ],
    ],
  },
  {
    name: 'a Pod that was one too many succeeds all the same',
    spec: { completions: 3, parallelism: 2 },
    steps: [
      ['one at a time', (play) => play.change({ parallelism: 1 })],
      ['the deleted one succeeds', (play) => play.end('deleted', 0)],
      ['the kubelet lets it go', (play) => play.release()],
    ],
  },
  ...(['Foreground', 'Background', 'Orphan'] as const).map(
    (policy): JobScenario => ({
      name: `a running Job is deleted: ${policy}`,
      spec: INDEXED,
      steps: [
        ['both run', (play) => play.run({ any: 2 })],
        ['deleted', (play) => play.deleteJob(policy)],
        ['the kubelet lets go what goes', (play) => play.release()],
      ],
    }),
  ),
];
