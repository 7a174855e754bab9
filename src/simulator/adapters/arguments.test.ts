import { expect, it } from 'vitest';
import { readArguments } from './arguments.ts';

it('has defaults, and reads all flags', () => {
  expect(readArguments([])).toMatchObject({ seeds: 100, seed: undefined, isShrunk: true });
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

it('reads which small groups to explore', () => {
  expect(readArguments([]).explored).toEqual([]);
  expect(readArguments(['--exhaustive']).explored).toEqual([
    { members: 2, mode: 'Supervisor', faults: 2 },
    { members: 2, mode: 'Sidecar', faults: 2 },
  ]);
  const args = ['--exhaustive', '--members', '3', '--mode', 'Sidecar', '--faults-at-most', '0'];
  expect(readArguments(args).explored).toEqual([{ members: 3, mode: 'Sidecar', faults: 0 }]);
});

it.each([
  [['--exhaustive', '--members', '5'], '--members: "5", expected a whole number from 1 to 4'],
  [
    ['--exhaustive', '--faults-at-most', ''],
    '--faults-at-most: "", expected a whole number from 0',
  ],
  [['--exhaustive', '--mode', 'sidecar'], '--mode: "sidecar", expected Supervisor or Sidecar'],
  [['--exhaustive', '--seeds', '5'], '--seeds: expected no such flag beside --exhaustive'],
  [['--mode', 'Sidecar'], '--mode: expected --exhaustive beside it'],
  [['--seeds', 'many'], '--seeds: "many", expected a whole number from 1 to 10000000'],
  [['--members', '0'], '--members: "0", expected a whole number from 1 to 1000'],
  [['--faults', 'Fire'], '--faults: "Fire", expected some of WorkerExits, '],
  [['--scenario', 'file', '--members', '3'], '--scenario: it has its own members'],
  [['--trace', 'file'], '--trace: expected --seed or --scenario beside it'],
  [['--fault', 'HubCut'], "Unknown option '--fault'"],
])('refuses %j', (args, message) => {
  expect(() => readArguments(args)).toThrow(message);
});
