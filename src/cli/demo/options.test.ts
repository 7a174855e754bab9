import { describe, expect, it } from 'vitest';
import { type DemoFlags, killSteps, parseDemoFlags } from './options.ts';

const FLAGS: DemoFlags = {
  workers: '4',
  kill: '2',
  atStep: '330',
  failures: '1',
  mode: 'sidecar',
  strategy: 'InPlaceRestart',
};

describe('demo flags', () => {
  it.each<[Partial<DemoFlags>, string]>([
    [{ workers: '0' }, '--workers is "0", allowed is an integer from 1 to 64'],
    [{ workers: 'four', kill: 'none' }, '--workers is "four", allowed is an integer from 1 to 64'],
    [{ workers: '4.5' }, '--workers is "4.5", allowed is an integer from 1 to 64'],
    [{ kill: '4' }, '--kill is "4", allowed is a rank from 0 to 3, or none'],
    [{ kill: '-1' }, '--kill is "-1", allowed is a rank from 0 to 3, or none'],
    [{ atStep: '700' }, '--at-step is "700", allowed is an integer from 1 to 699'],
    [{ failures: '11' }, '--failures is "11", allowed is an integer from 1 to 10'],
    [{ mode: 'Sidecar' }, '--mode is "Sidecar", allowed are sidecar, supervisor'],
    [
      { strategy: 'recreate' },
      '--strategy is "recreate", allowed are InPlaceRestart, Recreate, BlockingRecreate',
    ],
  ])('%o is refused', (flags, error) => {
    const parsed = parseDemoFlags({ ...FLAGS, ...flags });
    expect(parsed).toHaveProperty('errors');
    expect('errors' in parsed && parsed.errors).toContain(error);
  });

  it('names every wrong flag at once', () => {
    const parsed = parseDemoFlags({ ...FLAGS, workers: 'x', mode: 'y', strategy: 'z' });
    expect('errors' in parsed && parsed.errors.map((error) => error.split(' ')[0])).toEqual([
      '--workers',
      '--mode',
      '--strategy',
    ]);
  });

  it.each<[Partial<DemoFlags>, readonly number[]]>([
    [{}, [330]],
    [{ kill: 'none' }, []],
    [{ atStep: '100', failures: '3' }, [100, 300, 500]],
  ])('%o kills at steps %o', (flags, steps) => {
    const parsed = parseDemoFlags({ ...FLAGS, ...flags });
    expect('options' in parsed && killSteps(parsed.options)).toEqual(steps);
  });
});
