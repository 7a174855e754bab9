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

it.each([
  [['--seeds', 'many'], '--seeds: "many", expected a whole number from 1 to 10000000'],
  [['--members', '0'], '--members: "0", expected a whole number from 1 to 1000'],
  [['--faults', 'Fire'], '--faults: "Fire", expected some of WorkerExits, '],
  [['--scenario', 'file', '--members', '3'], '--scenario: it has its own members'],
  [['--trace', 'file'], '--trace: expected --seed or --scenario beside it'],
  [['--fault', 'HubCut'], "Unknown option '--fault'"],
])('refuses %j', (args, message) => {
  expect(() => readArguments(args)).toThrow(message);
});
