import { expect, test } from 'vitest';
import { rankWords } from './rank-words.ts';

test.each([
  ['330', {}],
  ['330 checkpoint=300 pid=4711 rank=107', { pid: 4711, rank: 107 }],
  ['330 pid=1 pid=2', { pid: 2 }],
  ['330 rank=0', { rank: 0 }],
  ['330 pid=0 rank=-1', {}],
  ['330 pid=4194305 rank=2147483648', {}],
  ['330 pid=1e3 rank=0x7', {}],
  ['330 pid=99999999999999 rank=', {}],
  ['330 xpid=7 rank=7x', {}],
])('%s', (line, words) => expect(rankWords(line)).toEqual(words));
