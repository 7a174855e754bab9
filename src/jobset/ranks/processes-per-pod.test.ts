import { describe, expect, it, test } from 'vitest';
import { carriedProcesses, parseProcessesPerPod, processesPerPod } from './processes-per-pod.ts';

describe('processes per Pod', () => {
  test.each<[string, ReturnType<typeof parseProcessesPerPod>]>([
    ['1', 1],
    ['64', 64],
    ['workers=8', new Map([['workers', 8]])],
    [
      'a-b=64,c=1',
      new Map([
        ['a-b', 64],
        ['c', 1],
      ]),
    ],
  ])('are read from %j', (text, processes) => {
    expect(parseProcessesPerPod(text)).toEqual(processes);
  });

  test.each(
    [
      ['', '0', '65', '08', '8.0', ' 8', 'eight', '100000000000000000000'],
      ['workers=', 'workers=0', 'workers=65', '=8', 'workers=8,', 'workers=8, driver=1'],
      [
        'workers=8,workers=8',
        'Workers=8',
        '-a=8',
        'a-=8',
        '8,driver=1',
        'a=b=1',
        `${'a='.repeat(9)}1`,
      ],
    ].flat(),
  )('are not read from %j', (text) => {
    expect(parseProcessesPerPod(text)).toBeUndefined();
  });

  it('are for all ReplicatedJobs, or for those that are named', () => {
    const all = { 'lockstep/processes-per-pod': '8' };
    const some = { 'lockstep/processes-per-pod': 'workers=4' };
    expect(processesPerPod(all, 'driver')).toBe(8);
    expect(processesPerPod(some, 'workers')).toBe(4);
    expect(processesPerPod(some, 'driver')).toBeUndefined();
    expect(processesPerPod(undefined, 'workers')).toBeUndefined();
  });

  test.each<[string | undefined, number | undefined]>([
    ['8', 8],
    ['65', undefined],
    [undefined, undefined],
  ])('of a template whose variable is %j are %j', (value, processes) => {
    const env = [{ name: 'LOCKSTEP_PROCESSES_PER_POD', ...(value === undefined ? {} : { value }) }];
    const containers = [{ name: 'other' }, { name: 'worker', env }];
    expect(carriedProcesses({ spec: { containers } })).toBe(processes);
  });
});
