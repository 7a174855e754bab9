import { describe, expect, it } from 'vitest';
import { ExpiringMap } from './expiring-map.ts';
import { VirtualClock } from './memory/virtual-clock.ts';

describe('a map of entries that expire', () => {
  it('is known until its time is over', async () => {
    const clock = new VirtualClock();
    const map = new ExpiringMap<number>(clock, 10);
    map.set('a', 1, 100);
    map.set('b', 2, 200);
    await clock.advance(99);
    expect([map.get('a'), map.get('b')]).toEqual([1, 2]);
    await clock.advance(1);
    expect([map.get('a'), map.get('b')]).toEqual([undefined, 2]);
  });

  it('lasts its time again when it is learned again', async () => {
    const clock = new VirtualClock();
    const map = new ExpiringMap<number>(clock, 10);
    map.set('a', 1, 100);
    await clock.advance(50);
    map.set('a', 3, 100);
    await clock.advance(99);
    expect(map.get('a')).toBe(3);
  });

  it('makes room for new entries by dropping the oldest', () => {
    const map = new ExpiringMap<number>(new VirtualClock(), 2);
    map.set('a', 1, 100);
    map.set('b', 2, 100);
    map.set('a', 3, 100);
    map.set('c', 4, 100);
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([3, undefined, 4]);
  });

  it('can be taken back', () => {
    const map = new ExpiringMap<number>(new VirtualClock(), 2);
    map.set('a', 1, 100);
    map.delete('a');
    expect(map.get('a')).toBeUndefined();
  });
});
