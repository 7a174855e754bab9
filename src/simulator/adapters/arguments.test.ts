import { expect, it } from 'vitest';
import { readArguments } from './arguments.ts';

it('has defaults, and reads all flags', () => {
  expect(readArguments([])).toMatchObject({
    seeds: { first: 1, last: 100 },
    seed: undefined,
    isShrunk: true,
  });
  const args = [
    '--seed',
    '7',
    '--members',
    '4',
    '--minutes',
    '3',
    '--faults',
    'HubCut, PodDeleted',
  ];
  expect(readArguments(args)).toMatchObject({
    seed: 7,
    options: { members: 4, minutes: 3, kinds: ['HubCut', 'PodDeleted'] },
  });
});

it('reads which seeds to run, and how many at a time', () => {
  expect(readArguments(['--seeds', '7']).seeds).toEqual({ first: 1, last: 7 });
  const { seeds, jobs } = readArguments(['--seeds', '2001-4000', '--jobs', '3']);
  expect(seeds).toEqual({ first: 2001, last: 4000 });
  expect(jobs).toBe(3);
});

it('reads which small groups to explore', () => {
  expect(readArguments([]).explored).toEqual([]);
  expect(readArguments(['--exhaustive']).explored).toEqual([
    { members: 2, mode: 'Supervisor', faults: 2 },
    { members: 2, mode: 'Sidecar', faults: 2 },
    { members: 2, mode: 'Recreate', faults: 2 },
    { members: 2, mode: 'BlockingRecreate', faults: 2 },
  ]);
  const args = ['--exhaustive', '--members', '3', '--mode', 'Sidecar', '--faults-at-most', '0'];
  expect(readArguments(args).explored).toEqual([{ members: 3, mode: 'Sidecar', faults: 0 }]);
});

it('reads what to predict', () => {
  expect(readArguments([]).predictions).toBeUndefined();
  expect(readArguments(['--predict']).predictions).toEqual([]);
  const args = ['--predict', '--members', '4,130000', '--operators', '2', '--slower', '1.25'];
  const shared = { operators: 2, slower: 1.25 };
  expect(readArguments(args).predictions).toEqual([
    { members: 4, ...shared },
    { members: 130_000, ...shared },
  ]);
});

it.each([
  [['--exhaustive', '--members', '5'], '--members: "5", expected a whole number from 1 to 4'],
  [
    ['--exhaustive', '--faults-at-most', ''],
    '--faults-at-most: "", expected a whole number from 0',
  ],
  [
    ['--exhaustive', '--mode', 'sidecar'],
    '--mode: "sidecar", expected one of Supervisor, Sidecar, ',
  ],
  [['--exhaustive', '--seeds', '5'], '--seeds: expected no such flag beside --exhaustive'],
  [['--mode', 'Sidecar'], '--mode: expected --exhaustive beside it'],
  [['--seeds', 'many'], '--seeds: "many", expected a whole number from 1 to '],
  [['--seeds', '9-5'], '--seeds: "5", expected a whole number from 9 to '],
  [['--seeds', '-5'], '--seeds'],
  [['--seeds', '1-10000001'], '--seeds: "1-10000001", expected at most 10000000 seeds'],
  [['--jobs', '0'], '--jobs: "0", expected a whole number from 1 to 64'],
  [['--members', '0'], '--members: "0", expected a whole number from 1 to 1000'],
  [['--faults', 'Fire'], '--faults: "Fire", expected some of WorkerExits, '],
  [['--scenario', 'file', '--members', '3'], '--scenario: it has its own members'],
  [['--trace', 'file'], '--trace: expected --seed or --scenario beside it'],
  [['--predict', '--members', '4,x'], '--members: "x", expected a whole number from 1 to 200000'],
  [['--predict', '--members', '100001'], '--members: "100001", expected an even number above'],
  [
    ['--predict', '--members', '4', '--slower', '0'],
    '--slower: "0", expected a number above 0, at most 100',
  ],
  [['--predict', '--operators', '2'], '--operators: expected --members beside it'],
  [
    ['--predict', '--seed', '3'],
    '--seed: expected no such flag beside --predict, which draws nothing',
  ],
  [['--slower', '2'], '--slower: expected --predict beside it'],
  [['--mutations', '--decisions'], '--mutations, --decisions: expected one of them'],
  [['--decisions', '--seeds', '3'], '--mutations, --decisions: expected one of them'],
  [['--only', 'suspend'], '--only: expected --mutations or --decisions beside it'],
  [['--fault', 'HubCut'], "Unknown option '--fault'"],
])('refuses %j', (args, message) => {
  expect(() => readArguments(args)).toThrow(message);
});
