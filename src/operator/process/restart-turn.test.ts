import { expect, test } from 'vitest';
import { whyNotToRestart } from './restart-turn.ts';

type Situation = Parameters<typeof whyNotToRestart>[0];

const CALM: Situation = {
  self: 'a',
  isReady: true,
  isLeader: false,
  wanted: 'new',
  waitedMs: 0,
  others: [
    { name: 'b', isReady: true },
    { name: 'c', isReady: true },
  ],
  record: { runs: { a: 'old', b: 'old', c: 'old' } },
};

test.each<[string, Partial<Situation>, string | undefined]>([
  ['all others are ready', {}, undefined],
  ['it is alone', { others: [], isLeader: true }, undefined],
  ['another restarts', { record: { turn: 'b', runs: {} } }, 'b restarts'],
  ['the one that restarted is gone', { record: { turn: 'gone', runs: {} } }, undefined],
  ['it had the turn already', { record: { turn: 'a', runs: {} } }, undefined],
  [
    'another is not ready',
    {
      others: [
        { name: 'b', isReady: true },
        { name: 'c', isReady: false },
      ],
    },
    'c is not ready',
  ],
  ['it leads, and others have yet to restart', { isLeader: true }, 'b comes before the leader'],
  [
    'it leads, and the others have restarted',
    { isLeader: true, record: { runs: { b: 'new', c: 'new' } } },
    undefined,
  ],
  [
    'no replica is ready, itself included',
    { isReady: false, others: [{ name: 'b', isReady: false }], record: { turn: 'b', runs: {} } },
    undefined,
  ],
  ['it leads, and has waited long', { isLeader: true, waitedMs: 300_000 }, undefined],
  [
    'it has waited long, but another is not ready',
    { waitedMs: 3_600_000, others: [{ name: 'b', isReady: false }] },
    'b is not ready',
  ],
])('a replica may restart or not when %s', (_, situation, expected) => {
  expect(whyNotToRestart({ ...CALM, ...situation })).toBe(expected);
});
