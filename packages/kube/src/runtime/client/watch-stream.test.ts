import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter, watchEventOf } from './watch-stream.ts';

function linesOf(chunks: readonly Uint8Array[], maxLineBytes = 1_000): readonly string[] {
  const splitter = new LineSplitter(maxLineBytes);
  const lines = chunks.flatMap((chunk) => [...splitter.push(chunk)]);
  splitter.end();
  return lines;
}

describe('LineSplitter', () => {
  it('finds the same lines however the bytes are cut', () => {
    const line = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((s) => !s.includes('\n'));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(400)), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length];
        at.sort((a, b) => a - b);
        const chunks = at.map((start, i) => bytes.subarray(start, at[i + 1] ?? start));
        expect(linesOf(chunks)).toEqual(lines.filter((text) => text !== ''));
      }),
    );
  });

  it('refuses a stream that ends within a line', () => {
    expect(() => linesOf([Buffer.from('{"a":1}\n{"a"')])).toThrow('ended within an event');
  });

  it('bounds a line, over however many chunks it comes', () => {
    const chunk = Buffer.alloc(400, 'x');
    expect(() => linesOf([chunk, chunk, chunk])).toThrow('longer than 1000 bytes');
    expect(linesOf([Buffer.concat([chunk, chunk, Buffer.from('\n')])]).length).toBe(1);
  });
});

const OBJECT = { metadata: { name: 'a', resourceVersion: '5' } };
const BOOKMARK = { metadata: { resourceVersion: '9' } };

describe('watchEventOf', () => {
  it.each(['ADDED', 'MODIFIED', 'DELETED'])('reads %s', (type) => {
    expect(watchEventOf(JSON.stringify({ type, object: OBJECT }))).toEqual({
      type,
      object: OBJECT,
    });
  });

  it('reads bookmarks, and which one ends the initial events', () => {
    expect(watchEventOf(JSON.stringify({ type: 'BOOKMARK', object: BOOKMARK }))).toEqual({
      type: 'BOOKMARK',
      resourceVersion: '9',
      initialEventsEnd: false,
    });
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const last = { metadata: { ...BOOKMARK.metadata, annotations } };
    expect(watchEventOf(JSON.stringify({ type: 'BOOKMARK', object: last }))).toMatchObject({
      initialEventsEnd: true,
    });
  });

  it('throws what an ERROR event says', () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
    const line = JSON.stringify({ type: 'ERROR', object: status });
    expect(() => watchEventOf(line)).toThrow(
      expect.objectContaining({ code: 410, reason: 'Expired' }),
    );
    expect(() => watchEventOf('{"type":"ERROR","object":5}')).toThrow(
      expect.objectContaining({ name: 'ApiStatusError', code: 500, message: '5' }),
    );
  });

  it.each([
    '',
    'null',
    '[]',
    '{"type":"ADDED"}',
    '{"type":"ADDED","object":{"metadata":{"name":"a"}}}',
    '{"type":"ADDED","object":{"metadata":null}}',
    '{"type":"BOOKMARK","object":{"metadata":{}}}',
    '{"type":"MOVED","object":{}}',
    '{"type":"ADD',
  ])('refuses %j', (line) => {
    expect(() => watchEventOf(line)).toThrow(
      expect.objectContaining({ name: 'TransportError', code: 'EBADMSG' }),
    );
  });

  it('never throws anything but the two kinds of errors', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        try {
          watchEventOf(text);
        } catch (error) {
          expect((error as Error).name).toMatch(/^(ApiStatusError|TransportError)$/);
        }
      }),
    );
  });
});
