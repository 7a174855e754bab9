import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { expect, it } from 'vitest';
import { PodVersions } from './pod-versions.ts';

it('knows the versions of a Pod in their order, and versions of the last minute only', async () => {
  const clock = new VirtualClock();
  const versions = new PodVersions(clock);
  versions.saw('a', '1');
  versions.saw('b', '2');
  await clock.advance(40_000);
  versions.saw('a', '3');
  expect(versions.of('a', 0)).toEqual(['1', '3']);
  expect(versions.of('a', clock.now() - 1000)).toEqual(['3']);
  await clock.advance(40_000);
  expect(versions.of('a', 0)).toEqual(['3']);
  expect(versions.of('b', 0)).toEqual([]);
});

it('holds a limited number, and forgets the oldest first', () => {
  const versions = new PodVersions(new VirtualClock());
  versions.saw('first', '0');
  for (let version = 1; version <= 100_000; version++) versions.saw('busy', String(version));
  expect(versions.of('first', 0)).toEqual([]);
  expect(versions.of('busy', 0)).toHaveLength(8192);
  expect(versions.of('busy', 0).at(-1)).toBe('100000');
});
