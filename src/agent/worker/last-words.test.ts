import { describe, expect, test } from 'vitest';
import { encodedBytes } from '../../jobset/worker-end/limited-text.ts';
import { failedMsOf } from './end-evidence.ts';
import { lastWords, StreamTail, torchErrorText } from './last-words.ts';

describe('the last words of a worker', () => {
  test.each([
    [['message', 'traceback', 'stderr'], 'message'],
    [[undefined, ' \n', 'stderr\n'], 'stderr'],
    [['a\0b'], 'ab'],
    [[undefined, ''], undefined],
  ])('of %j are %j', (texts, words) => expect(lastWords(texts)).toBe(words));

  test('are the last lines that fit', () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n');
    const words = lastWords([lines]) ?? '';
    expect(words).toMatch(/^line [0-9]+\n[\s\S]*\nline 99$/);
    expect(encodedBytes(words)).toBeLessThanOrEqual(512);
  });
});

describe('an error file of PyTorch', () => {
  const message = 'RuntimeError: no CUDA';
  const stack = `Traceback (most recent call last):\n${message}\n`;
  test.each([
    [{ message: { message, extraInfo: { py_callstack: stack, timestamp: '1' } } }, stack],
    [{ message: { message, extraInfo: { timestamp: '1' } } }, message],
    [{ message }, message],
    [{ message: 7 }, undefined],
    [{ message: { extraInfo: { py_callstack: ['a'] } } }, undefined],
    [[1], undefined],
  ])('%j says %j', (error, text) => expect(torchErrorText(JSON.stringify(error))).toBe(text));

  test('that is no JSON says nothing', () => expect(torchErrorText('{"message"')).toBeUndefined());
});

describe('the tail of a stream', () => {
  test('is what came last, however it was cut', () => {
    const tail = new StreamTail();
    const bytes = new TextEncoder().encode('€'.repeat(10_000));
    for (let at = 0; at < bytes.length; at += 7) tail.add(bytes.subarray(at, at + 7), at);
    expect(tail.lastMs).toBe(bytes.length - (bytes.length % 7 || 7));
    expect(tail.text.length).toBeGreaterThan(1300);
    expect(tail.text.length).toBeLessThan(1400);
    expect(tail.text.slice(2)).toMatch(/^€+$/);
  });

  test('of one large chunk is its end', () => {
    const tail = new StreamTail();
    tail.add(new TextEncoder().encode(`${'x'.repeat(10_000)}end`), 0);
    expect(tail.text).toHaveLength(4096);
    expect(tail.text.endsWith('xend')).toBe(true);
  });
});

test('knows when it heard the first traceback, and the last word', () => {
  const tail = new StreamTail();
  const say = (text: string, nowMs: number): void =>
    tail.add(new TextEncoder().encode(text), nowMs);
  say('a warning\n[rank2]: Traceback (most rec', 100);
  expect(tail.tracebackMs).toBeUndefined();
  say('ent call last):\n  File "train.py"\n', 200);
  say('Traceback (most recent call last):\n', 400);
  say('bye', 500);
  expect(tail).toMatchObject({ tracebackMs: 200, lastMs: 500 });
});

const NEVER = Number.POSITIVE_INFINITY;

test.each<[string, number | undefined, number | undefined, number, number | undefined]>([
  ['a traceback after its last step', 7000, 6000, NEVER, 3000],
  ['one before the look that found its last step', 5500, 6000, NEVER, 4500],
  ['one that was heard after its end', 10_100, 6000, NEVER, 0],
  ['none that it survived', 3000, 6000, NEVER, undefined],
  ['none that it printed when it was told to stop', 9500, 6000, 9000, undefined],
  ['none of a worker that made no step', 7000, undefined, NEVER, undefined],
  ['nothing without a traceback', undefined, 6000, NEVER, undefined],
])('a failure is dated by %s', (_, tracebackMs, steppedMs, toldMs, failedMs) => {
  expect(failedMsOf(tracebackMs, { steppedMs, toldMs, endMs: 10_000 })).toBe(failedMs);
});
