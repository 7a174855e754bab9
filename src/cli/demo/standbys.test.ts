import { expect, it } from 'vitest';
import { Standbys } from './standbys.ts';

it('counts the standbys that are ready, one for each Pod', () => {
  const standbys = new Standbys();
  const told = [
    ['a', 'a standby waits for the next epoch'],
    ['a', 'a standby waits for the next epoch'],
    ['b', 'a standby waits for the next epoch'],
    ['b', 'an epoch begins'],
    ['b', 'a standby died'],
    ['a', 'the standby becomes the worker'],
    ['a', 'a standby waits for the next epoch'],
    ['a', 'this Pod keeps no standby any more'],
  ] as const;
  const seen = told.map(([pod, message]) => [standbys.took(pod, message), standbys.ready]);
  expect(seen).toEqual([
    [false, 1],
    [false, 1],
    [false, 2],
    [false, 2],
    [false, 1],
    [true, 0],
    [false, 1],
    [false, 0],
  ]);
});
