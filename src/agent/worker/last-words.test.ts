import { describe, expect, test } from 'vitest';
import { encodedBytes } from '../../jobset/culprits/worker-evidence.ts';
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
