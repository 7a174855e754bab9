import { describe, expect, test } from 'vitest';
import { parseProgress, parseProgressLine, progressFields } from './progress.ts';

describe('a line of progress', () => {
  test.each([
    ['330', { step: 330 }],
    ['330 checkpoint=300', { step: 330, checkpoint: 300 }],
    ['330 phase=evaluate timeout=20m', { step: 330, phase: 'evaluate', silence: 1_200_000 }],
    ['phase=load timeout=none', { phase: 'load', silence: 'Unlimited' }],
    ['9007199254740991', { step: Number.MAX_SAFE_INTEGER }],
    ['  7\tloss=0.3 more  ', { step: 7 }],
    ['checkpoint=0', { checkpoint: 0 }],
  ])('%j says how far the worker is', (text, line) => {
    expect(parseProgressLine(text)).toEqual(line);
  });

  test.each([
    '',
    'loss=0.3',
    '-1',
    '1.5',
    '9007199254740992',
    '7 checkpoint=-1',
    '7 phase=',
    '7 phase=a/b',
    `7 phase=${'a'.repeat(33)}`,
    '7 timeout=0s',
    '7 timeout=soon',
    '7 timeout=-5m',
  ])('%j is malformed', (text) => {
    expect(parseProgressLine(text)).toBeUndefined();
  });
});

describe('the progress in a message', () => {
  test('is what the agent knows', () => {
    const progress = { step: 7, checkpoint: 5, phase: 'save', silentMs: 12 };
    expect(parseProgress({ ...progressFields(progress) })).toEqual(progress);
    expect(parseProgress({ ...progressFields({ silentMs: 12.4 }) })).toEqual({ silentMs: 12 });
    expect(progressFields(undefined)).toEqual({});
  });

  test.each([
    [
      { count: 4, last: { exitCode: 1 } },
      { count: 4, last: { exitCode: 1 } },
    ],
    [
      { count: 1, last: { signal: 'SIGSEGV' }, later: 1 },
      { count: 1, last: { signal: 'SIGSEGV' } },
    ],
    [
      { count: 2, last: 'NotReady' },
      { count: 2, last: 'NotReady' },
    ],
    [{ count: 2 }, { count: 2 }],
    [{ count: 2, last: 'OfALaterVersion' }, { count: 2 }],
    [{ count: 2, last: { exitCode: 256 } }, { count: 2 }],
    [{ count: 2, last: { signal: '\u001b[2J' } }, { count: 2 }],
    [{ count: 2, last: { exitCode: 1, signal: 'SIGSEGV' } }, { count: 2 }],
    [{ count: 0 }, undefined],
    [{ count: '2' }, undefined],
    [{ count: 2 ** 53 }, undefined],
    [[], undefined],
    ['4', undefined],
    [null, undefined],
  ])('%j of standbys that died counts as %j, and the rest is kept', (told, known) => {
    const fields = { silentMs: 1, step: 7, standbyDeaths: told };
    expect(parseProgress(fields)).toEqual({
      silentMs: 1,
      step: 7,
      ...(known && { standbyDeaths: known }),
    });
  });

  test.each([
    {},
    { step: 7 },
    { silentMs: -1 },
    { silentMs: '1' },
    { silentMs: 1, step: 1.5 },
    { silentMs: 1, checkpoint: 2 ** 53 },
    { silentMs: 1, phase: 'a b' },
  ])('%j counts as none', (fields) => {
    expect(parseProgress(fields)).toBeUndefined();
  });
});
