import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { DeadlineError } from '@lockstep/kube/runtime/deadline.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { describe, expect, it } from 'vitest';
import { jobSetWith } from '../../../test/fixtures/hub-jobset.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { type StatusView, statusView } from '../../jobset/view/status-view.ts';
import { parseJobSetStatus } from './command.ts';
import { followStatus } from './live-status.ts';
import { memberScreen, memberTable } from './printed-at.fixture.ts';
import { statusChanges } from './status-changes.ts';
import { livePrinter, printStatus } from './status-printer.ts';

function pod(index: number, annotations: Readonly<Record<string, string>> = {}): Stored<Pod> {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `train-w-0-${index}`,
      namespace: 'default',
      uid: `uid-${index}`,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { 'jobset.sigs.k8s.io/replicatedjob-name': 'w' },
      annotations: { 'batch.kubernetes.io/job-completion-index': String(index), ...annotations },
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'Job', name: 'train-w-0', uid: 'job', controller: true },
      ],
    },
    spec: { nodeName: `node-${index}`, containers: [] },
    status: { phase: 'Running' },
  };
}

function inEpoch(epoch: number, ...indexes: readonly number[]): StatusView {
  const pods = indexes.map((index) => pod(index));
  const reports = pods.map(
    ({ metadata }) => ({ pod: metadata.name, epoch, channel: 'Hub' }) as const,
  );
  return statusView(jobSetWith(epoch - 1, epoch, 7), pods, reports);
}

const RECORD = {
  epoch: 1,
  time: '2026-01-01T00:00:00.000000Z',
  cause: 'WorkerFailed',
  counted: true,
} as const;

function withRestart(restart: object): Stored<JobSet> {
  const jobSet = jobSetWith(1, 1, 7);
  return { ...jobSet, status: { ...jobSet.status, restartHistory: [{ ...RECORD, ...restart }] } };
}

describe('a table of members', () => {
  it('shows each member in order, with what the newer channel says', () => {
    const pods = [pod(10), pod(2, { 'jobset.sigs.k8s.io/epoch': '1' }), pod(0)];
    const view = statusView(jobSetWith(1, 2, 7), pods, [
      { pod: 'train-w-0-0', epoch: 2, channel: 'Hub' },
      {
        pod: 'train-w-0-10',
        epoch: 2,
        channel: 'Hub',
        cause: { epoch: 1, end: { signal: 'SIGKILL' } },
      },
    ]);
    expect(memberTable(view).split('\n').slice(-6)).toEqual([
      '',
      'WORKER  POD           NODE     PHASE           EPOCH  LAST CAUSE',
      '0       train-w-0-0   node-0   Running         2      -',
      '2       train-w-0-2   node-2   Not at barrier  1      -',
      '10      train-w-0-10  node-10  Running         2      epoch 1: was killed by SIGKILL',
      '',
    ]);
  });

  it('shows no control character that an annotation holds', () => {
    const index = { 'batch.kubernetes.io/job-completion-index': '\u001b[2J' };
    const view = statusView(jobSetWith(1, 2, 7), [pod(0, index)], undefined);
    expect(memberTable(view)).not.toContain('\u001b');
    expect(memberScreen(view, { rows: 20, columns: 100 }).join('')).not.toContain('\u001b');
  });

  it('marks members whose node is not ready', () => {
    const view = statusView(jobSetWith(1, 2, 7), [pod(0), pod(1)], undefined, new Set(['node-1']));
    expect(memberTable(view)).toMatch(/ node-0 +Running .*\n.* node-1 \(NotReady\) +Node lost /);
    const before = statusView(jobSetWith(1, 2, 7), [pod(0), pod(1)], undefined);
    expect(statusChanges(before, view)).toEqual([
      expect.stringContaining('Pod train-w-0-1 on node-1 (NotReady): Node lost'),
    ]);
  });

  it('shows the annotations if the hub could not be asked', () => {
    const annotations = {
      'jobset.sigs.k8s.io/epoch': '2',
      'lockstep/notice': '{"epoch":1,"exitCode":7}',
    };
    const view = statusView(jobSetWith(1, 1, 7), [pod(0, annotations), pod(1)], undefined);
    const table = memberTable(view);
    expect(table).toMatch(/^train: At barrier 1 of 1, 0 of 0 restarts used\n/);
    expect(table).toContain('2      epoch 1: exited with code 7');
    expect(table).toMatch(/train-w-0-1 +node-1 +Not at barrier +- +-\n/);
  });

  it.each([
    [{ exitCode: 3, reason: 'Error' }, 'epoch 1: exited with code 3'],
    [{ exitCode: 137, signal: 'SIGKILL', reason: 'Error' }, 'epoch 1: was killed by SIGKILL'],
    [{ exitCode: null, reason: 'PodRestarted' }, 'epoch 1: failed'],
    [
      { exitCode: null, reason: 'WorkerHung', message: 'made no progress for 61 s' },
      'epoch 1: hung, made no progress for 61 s',
    ],
  ])('tells of a sidecar what the witness of the restart saw: %o', (end, text) => {
    const jobSet = withRestart({ witness: { pod: 'train-w-0-1', ...end } });
    const { members } = statusView(jobSet, [pod(0), pod(1)], undefined);
    expect(members.map(({ lastCause }) => lastCause === null)).toEqual([true, false]);
    expect(memberTable(statusView(jobSet, [pod(1)], undefined))).toContain(text);
  });

  it('says how a worker hung, and not which signal ended it', () => {
    const jobSet = withRestart({
      witness: { pod: 'train-w-0-0', exitCode: null, reason: 'WorkerHung', message: 'was silent' },
    });
    const ended = { how: 'Hung', agoMs: 5, silentMs: 61_000, step: 330 };
    const notice = JSON.stringify({ epoch: 1, signal: 'SIGKILL', ended });
    const pods = [pod(0), pod(1), pod(2, { 'lockstep/notice': notice })];
    const killed = { epoch: 1, end: { signal: 'SIGKILL' } };
    const view = statusView(jobSet, pods, [
      { pod: 'train-w-0-0', epoch: 2, channel: 'Hub', cause: killed },
      { pod: 'train-w-0-1', epoch: 2, channel: 'Hub', cause: { ...killed, hung: 'slept \u001b' } },
    ]);
    const causes = memberTable(view).match(/epoch 1: hung.*/g);
    expect(causes).toEqual([
      'epoch 1: hung, was silent',
      'epoch 1: hung, slept \\x1b',
      'epoch 1: hung, made no progress for 61 s at step 330',
    ]);
    const [first] = statusView(jobSetWith(3, 3, 7), pods.slice(0, 1), [
      { pod: 'train-w-0-0', epoch: 4, channel: 'Hub', cause: { ...killed, epoch: 3 } },
    ]).members;
    expect(first?.lastCause).toEqual({ epoch: 3, signal: 'SIGKILL' });
  });

  it.each<[string, object, string]>([
    [
      'an image that is not there, behind an init container that runs',
      {
        phase: 'Pending',
        initContainerStatuses: [{ state: { running: {} } }],
        containerStatuses: [{ state: { waiting: { reason: 'ErrImagePull' } } }],
      },
      'Pending (ErrImagePull)  -',
    ],
    [
      'no node that fits',
      { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Full' }] },
      'Pending (Full)  -',
    ],
    ['an eviction', { phase: 'Failed', reason: 'Evicted' }, 'Failed (Evicted)  -'],
    [
      'nothing but its start',
      {
        phase: 'Pending',
        containerStatuses: [{ state: { waiting: { reason: 'PodInitializing' } } }],
      },
      'Pending  -',
    ],
  ])('says what holds a Pod up: %s', (_what, podStatus, text) => {
    const held = { ...pod(0), status: podStatus } as Stored<Pod>;
    const [row = ''] = memberTable(statusView(jobSetWith(0, 0, 7), [held], undefined))
      .split('\n')
      .slice(-2);
    expect(row).toContain(`node-0  ${text}`);
  });

  it.each([
    ['1h', 1, 'Kept', '  no worker runs any more: the Pods are kept for 50m with their logs'],
    ['1m', 1, 'Kept', undefined],
    [undefined, 1, 'Running', undefined],
    // Failed before anybody asked for it: no agent was told to stop.
    ['1h', 0, 'Running', undefined],
  ])('says whose Pod is kept: %s, epoch %i has ended', (keep, deprecated, phase, line) => {
    const failed = { type: 'Failed', status: 'True', reason: 'x', message: 'y' } as const;
    const { metadata, ...jobSet } = jobSetWith(deprecated, 1, 7);
    const annotations: Readonly<Record<string, string>> =
      keep === undefined ? {} : { 'lockstep/keep-failed': keep };
    const conditions = [{ ...failed, lastTransitionTime: RECORD.time }];
    const of = {
      ...jobSet,
      metadata: { ...metadata, annotations },
      status: { ...jobSet.status, syncedEpoch: 1, terminalState: 'Failed' as const, conditions },
    };
    const lines = memberTable(statusView(of, [pod(0)], undefined)).split('\n');
    expect(lines.find((text) => text.includes('are kept'))).toBe(line);
    expect(lines.at(-2)).toMatch(new RegExp(`node-0 +${phase} `));
  });

  it('says what somebody has to know: conditions that are True, and Pods that are not there', () => {
    const waits = '; the next epoch waits 60 s';
    const conditions = [
      { type: 'Rejected', status: 'True' as const, reason: 'InvalidSpec', message: 'no \u001b[2J' },
      { type: 'WaitingForLostNode', status: 'False' as const, reason: 'PodsGone', message: '' },
      {
        type: 'RestartingInPlace',
        status: 'True' as const,
        reason: 'WorkerFailed',
        message: `epoch 7 ended: first seen: Pod p failed (x); 1 of 5 restarts used${waits}`,
      },
      { type: 'StartupPolicyInProgress', status: 'True' as const, reason: 'x', message: 'y' },
    ].map((one) => ({ ...one, lastTransitionTime: RECORD.time }));
    const jobSet = jobSetWith(0, 0, 7);
    const held = { ...jobSet, status: { ...jobSet.status, conditions } };
    const told = memberTable(statusView(held, [], undefined))
      .split('\n')
      .slice(1, -1);
    expect(told).toEqual([
      '  Rejected: no \\x1b[2J (InvalidSpec)',
      expect.stringMatching(/^ {2}1 of 1 Pods are not there: .*describe jobset/),
      '',
    ]);
    const crashing = statusView(held, [pod(0, { 'jobset.sigs.k8s.io/epoch': '1' })], undefined);
    expect(statusChanges(inEpoch(0, 0), crashing)).toContain('the next epoch waits 60 s');
  });

  it('says nothing of epochs of a JobSet that recreates its Jobs', () => {
    const jobSet = jobSetWith(0, 0, 7);
    const recreated = { ...jobSet, spec: { ...jobSet.spec, failurePolicy: { maxRestarts: 2 } } };
    expect(memberTable(statusView(recreated, [], undefined)).split('\n')[0]).toBe(
      'train: Starting 0 of 1, 0 of 2 restarts used',
    );
  });
});

describe('a screen', () => {
  it('that is too small shows members outside the current epoch first, and the number left out', () => {
    const view = inEpoch(2, ...Array.from({ length: 40 }, (_, i) => i));
    const members = view.members.map((member) =>
      member.index === '33' ? { ...member, epoch: 1 } : member,
    );
    const screen = memberScreen({ ...view, members }, { rows: 10, columns: 60 });
    expect(screen.length).toBeLessThan(10);
    expect(Math.max(...screen.map(({ length }) => length))).toBeLessThanOrEqual(60);
    expect(screen.join('')).toContain('0 of 0 restarts used');
    const rows = screen.slice(1 + screen.findIndex((line) => line.startsWith('WORKER')));
    expect(rows[0]).toMatch(/^33 /);
    expect(rows[1]).toMatch(/^0 /);
    expect(rows.at(-1)).toBe(`and ${40 - (rows.length - 1)} more`);
  });
});

describe('changes', () => {
  it('are one line each: the JobSet, a restart, members that changed, came and went', () => {
    const before = inEpoch(1, 0, 1, 2);
    const next = statusView(
      withRestart({ witness: { pod: 'train-w-0-1', exitCode: 7, reason: 'WorkerExited' } }),
      [pod(0), pod(1), pod(3)],
      [
        { pod: 'train-w-0-0', epoch: 1, channel: 'Hub' },
        {
          pod: 'train-w-0-1',
          epoch: 2,
          channel: 'Hub',
          cause: { epoch: 1, end: { exitCode: 7 } },
        },
      ],
    );
    expect(statusChanges(undefined, before)).toHaveLength(4);
    expect(statusChanges(before, before)).toEqual([]);
    expect(statusChanges(before, next)).toEqual([
      expect.stringMatching(
        /^2026-01-01 00:00:00 UTC epoch 1 ended: the cause is not known yet; first seen: Pod train-w-0-1 exited with code 7/,
      ),
      expect.stringMatching(/^train: At barrier \d of 1, 0 of 0 restarts used$/),
      'worker 1, Pod train-w-0-1 on node-1: Running, epoch 2 over Hub, epoch 1: exited with code 7',
      'worker 3, Pod train-w-0-3 on node-3: Running, no epoch',
      'worker 2, Pod train-w-0-2 is gone',
    ]);
    const blind = { ...next, problem: 'the hub was not asked: \u001b[31m' };
    expect(statusChanges(next, blind)).toEqual(['the hub was not asked: \\x1b[31m']);
    expect(statusChanges(blind, next)).toEqual(['all is up to date again']);
  });
});

describe('printed views', () => {
  const NOW = (): Date => new Date(0);

  it('is drawn in place on a screen, and appended line by line elsewhere', () => {
    const drawn: string[] = [];
    const screen = { rows: 24, columns: 80 };
    const draw = livePrinter('table', { write: (text) => drawn.push(text), screen }, NOW);
    const lines: string[] = [];
    const append = livePrinter(
      'table',
      { write: (text) => lines.push(text), screen: undefined },
      NOW,
    );
    for (const view of [inEpoch(1, 0), inEpoch(1, 0), inEpoch(2, 0)]) {
      draw(view);
      append(view);
    }
    expect(drawn.map((text) => text.startsWith('\u001b[2J\u001b[H'))).toEqual([true, false, false]);
    expect(drawn.every((text) => text.includes('\u001b[H') && text.endsWith('\u001b[J'))).toBe(
      true,
    );
    expect(lines).toHaveLength(4);
    expect(lines[3]).toMatch(/^1970-01-01T00:00:00.000Z worker 0, .*epoch 2 over Hub\n$/);
  });

  it('is one JSON document, or one in each line when it has changed', () => {
    const written: string[] = [];
    const to = { write: (text: string) => written.push(text), screen: undefined };
    printStatus(inEpoch(1, 0), 'json', to, 0);
    expect(JSON.parse(written[0] ?? '')).toEqual(inEpoch(1, 0));
    const print = livePrinter('json', to, NOW);
    for (const view of [inEpoch(1, 0), inEpoch(1, 0), inEpoch(2, 0)]) print(view);
    const documents = written.slice(1).map((text) => JSON.parse(text) as StatusView);
    expect(documents.map(({ jobSet }) => jobSet.epoch)).toEqual([1, 2]);
  });
});

describe('looking on', () => {
  const VIEW = inEpoch(1, 0);

  it('continues through failures, tells of them, and ends with the JobSet', async () => {
    const clock = new VirtualClock();
    const looks: (() => StatusView | undefined)[] = [
      () => inEpoch(1, 0),
      () => {
        throw new Error('the API server is down');
      },
      () => inEpoch(2, 0),
      () => undefined,
    ];
    const seen: (string | number | null)[] = [];
    let isGone: boolean | undefined;
    void followStatus({
      clock,
      look: () => Promise.resolve().then(() => looks.shift()?.()),
      show: ({ jobSet, problem }) => seen.push(problem ?? jobSet.epoch),
      signal: new AbortController().signal,
    }).then((result) => {
      isGone = result;
    });
    await clock.runUntil(() => isGone !== undefined, 60_000);
    expect(seen).toEqual([1, 'not up to date: the API server is down', 2]);
    expect(isGone).toBe(true);
  });

  it.each([
    ['where it says nothing at all', undefined, ''],
    ['and how the last request failed', new Error('no way there'), ': no way there'],
  ])('says that the cluster has not answered, %s', async (_, cause, why) => {
    const clock = new VirtualClock();
    const enough = new AbortController();
    const seen: (string | undefined)[] = [];
    const isSilent = (): boolean => seen.length === 1;
    const silence = (signal: AbortSignal): Promise<never> =>
      sleep(clock, 60_000, signal).then(
        () => Promise.reject(new Error('the hub never gave up')),
        (late: Error) => Promise.reject(new DeadlineError(late.message, { cause })),
      );
    void followStatus({
      clock,
      look: (signal) => (isSilent() ? silence(signal) : Promise.resolve(VIEW)),
      show: ({ problem }) => {
        seen.push(problem);
        if (seen.length === 3) enough.abort();
      },
      signal: enough.signal,
    });
    await clock.runUntil(() => enough.signal.aborted, 60_000);
    expect(seen).toEqual([
      undefined,
      `not up to date: the cluster has not answered for 8 s${why}`,
      undefined,
    ]);
  });

  it('ends when the user has seen enough, and fails if there was never anything to see', async () => {
    const clock = new VirtualClock();
    const enough = new AbortController();
    const show = (): void => enough.abort();
    const look = (): Promise<StatusView> => Promise.resolve(inEpoch(1, 0));
    expect(await followStatus({ clock, look, show, signal: enough.signal })).toBe(false);
    const fails = (): Promise<StatusView> => Promise.reject(new Error('forbidden'));
    const { signal } = new AbortController();
    await expect(followStatus({ clock, look: fails, show, signal })).rejects.toThrow('forbidden');
  });
});

it('names each wrong argument with what is allowed', () => {
  const parsed = parseJobSetStatus('default/train', { namespace: 'My Team', output: 'xml' });
  expect(parsed).toEqual({
    errors: [
      expect.stringMatching(/^the name of the JobSet is "default\/train": a lowercase RFC 1123/),
      expect.stringMatching(/^--namespace is "My Team": /),
      '--output is "xml", allowed are json, yaml, wide, name',
    ],
  });
});
