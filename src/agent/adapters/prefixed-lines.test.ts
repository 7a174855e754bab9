import { describe, expect, it } from 'vitest';
import { PrefixedLines } from './prefixed-lines.ts';

/** Everything that goes out for these chunks, with the unfinished line at the end. */
function through(prefix: string, chunks: readonly string[]): string {
  const lines = new PrefixedLines(prefix);
  const out = chunks.map((chunk) => lines.add(Buffer.from(chunk)));
  return Buffer.concat([...out, lines.flush()]).toString();
}

describe('lines of a process', () => {
  it.each<[string, readonly string[], string]>([
    ['one line', ['a\n'], '[7] a\n'],
    ['two lines in one chunk', ['a\nb\n'], '[7] a\n[7] b\n'],
    ['a line in pieces', ['a', 'b', 'c\nd', '\n'], '[7] abc\n[7] d\n'],
    ['an unfinished line', ['a\nb'], '[7] a\n[7] b\n'],
    ['an empty line', ['a\n\nb\n'], '[7] a\n[7] \n[7] b\n'],
    ['both ends of a line', ['a\r\nb\r', '\nc\r\n\r\n'], '[7] a\n[7] b\n[7] c\n'],
    ['a progress bar', ['\r10%', '\r20%\r', '30%\n'], '[7] 10%\n[7] 20%\n[7] 30%\n'],
    ['a bar that is overwritten with nothing', ['9%\r\r\r\n'], '[7] 9%\n'],
    ['nothing', ['', ''], ''],
  ])('%s', (_, chunks, expected) => {
    expect(through('[7] ', chunks)).toBe(expected);
  });

  it('may have no prefix', () => {
    expect(through('', ['{"a":1}\n{"b"', ':2}\n'])).toBe('{"a":1}\n{"b":2}\n');
  });

  it('go out in pieces of 64 KiB where they do not end', () => {
    const piece = 'x'.repeat(64 * 1024);
    const lines = new PrefixedLines('> ');
    const all = Buffer.from(piece + piece + 'y');
    const out = [0, 50_000, 100_000].map((at) => lines.add(all.subarray(at, at + 50_000)));
    expect(Buffer.concat(out).toString()).toBe(`> ${piece}\n> ${piece}\n`);
    expect(lines.flush().toString()).toBe('> y\n');
  });
});
