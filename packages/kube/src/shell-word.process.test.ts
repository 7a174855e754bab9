import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shellWord } from './quote.ts';

test('most paths are shown as they are', () => {
  expect(shellWord('/home/me/.local/state/lockstep/kubeconfig')).toBe(
    '/home/me/.local/state/lockstep/kubeconfig',
  );
});

test('a shell reads back every path', () => {
  // No path contains a NUL, and no file name is empty.
  const text = fc.string({ minLength: 1, unit: 'grapheme' }).filter((one) => !one.includes('\0'));
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 20, size: 'max' }), (texts) => {
      const words = texts.map(shellWord).join(' ');
      const read = execFileSync('sh', ['-c', `printf '%s\\0' ${words}`], { encoding: 'utf8' });
      expect(read.split('\0').slice(0, -1)).toEqual(texts);
    }),
    { numRuns: 30 },
  );
});
