import { expect, it } from 'vitest';
import type { ProgressView } from '../../../../jobset/view/status-view.ts';
import type { RunMember } from '../../../messages/run.ts';
import { cellInWords, factsOf } from './words.ts';

const MEMBER: RunMember = {
  atMs: 1000,
  label: '0',
  replicatedJob: 'w',
  job: 't-w-0',
  index: '3',
  pod: 't-w-0-3-x',
  node: 'n1',
  isNodeLost: true,
  phase: 'Running',
  heldBy: null,
  epoch: 4,
  channel: 'Hub',
  lastCause: { epoch: 3, exitCode: 137 },
  progress: {
    step: 12_000,
    checkpoint: 11_900,
    checkpointMs: 4000,
    firstStepMs: 9000,
    silentMs: 20,
    stepsPerSecond: 2,
    standby: 'Exited',
  },
};

it('tells what is known of a member', () => {
  expect(Object.fromEntries(factsOf(MEMBER, 62_000))).toEqual({
    Pod: 't-w-0-3-x',
    Node: 'n1, which is not ready or gone',
    Phase: 'Running',
    Epoch: '4 announced',
    Channel: 'the hub',
    Step: '12,000',
    Rate: '2.00 steps/s',
    Checkpoint: 'of step 11,900, told 65.0 s ago',
    'First step': '70.0 s ago',
    'Silent for': '61.0 s',
    Standby: 'none any more: a standby exited with 0',
    'Last end': 'epoch 3: exited with code 137',
  });
});

it('leaves out what is not', () => {
  const member = {
    ...MEMBER,
    node: null,
    epoch: null,
    channel: null,
    lastCause: null,
    progress: null,
  };
  expect(factsOf(member, 5000)).toEqual([
    ['Pod', 't-w-0-3-x'],
    ['Node', 'none yet'],
    ['Phase', 'Running'],
    ['Last end', 'no failure is known'],
  ]);
});

it.each<[Partial<ProgressView>, string | undefined]>([
  [{ standby: 'Ready' }, 'ready'],
  [
    { standbyDeaths: { count: 4, last: { exitCode: 1 } } },
    'died 4 times since the release, last: exited with code 1',
  ],
  [{ standby: 'Exited' }, 'none any more: a standby exited with 0'],
  [{}, undefined],
])('tells of a standby with %j: %s', (told, words) => {
  const member = { ...MEMBER, progress: { silentMs: 0, ...told } };
  expect(new Map(factsOf(member, 5000)).get('Standby')).toBe(words);
});

it('names a rank, by its number in the group where its agent started it', () => {
  const ranked = { ...MEMBER, ranks: { first: 24, count: 8 } };
  expect(cellInWords({ ...ranked, process: 3 }, 'runs', null)).toBe(
    'rank 27 (process 3) of t-w-0/3, runs, step 12,000',
  );
  expect(cellInWords({ ...MEMBER, process: 3 }, 'runs', null)).toMatch(/^process 3 of t-w-0\/3,/);
  const progress = { silentMs: 0, ranks: 8 };
  expect(new Map(factsOf({ ...ranked, progress }, 5000)).get('Ranks')).toBe('24 to 31, 8 report');
  expect(new Map(factsOf({ ...MEMBER, progress }, 5000)).get('Ranks')).toBe('8 report');
});

it('tells a cell in one line', () => {
  expect(cellInWords(MEMBER, 'runs', 7500)).toBe('t-w-0/3, runs, step 12,000, silent under 10 s');
  expect(cellInWords(MEMBER, 'runs', 12_300)).toBe('t-w-0/3, runs, step 12,000, silent 12.3 s');
});
