import { expect, test } from 'vitest';
import { PrintedSteps } from './printed-steps.ts';

async function newest(prefix: string, ...chunks: readonly string[]): Promise<string | undefined> {
  const steps = new PrintedSteps(prefix);
  for (const chunk of chunks) steps.add('stdout', new TextEncoder().encode(chunk));
  return steps.read();
}

test.each([
  ['the newest line', ['step 1\nstep 2 loss=3\nother\n'], '2'],
  ['the first occurrence in a line', ['step 1 of step 9\n'], '1'],
  ['the first occurrence, even without digits', ['step by step 9\n'], undefined],
  ['a line in many pieces', ['st', 'ep 1', '2', '\n'], '12'],
  ['no line that is not finished', ['step 1\nstep 23'], '1'],
  ['a progress bar', ['\rstep 7/100\rstep 8/100\rstep 9/'], '8'],
  ['what is early in a long line', [`step 4 ${'x'.repeat(5000)}`, `${'x'.repeat(9000)}\n`], '4'],
  ['nothing late in a long line', [`${'x'.repeat(5000)}`, 'step 4\n'], undefined],
  ['at most twenty digits', [`step ${'9'.repeat(100)}\n`], '9'.repeat(20)],
])('takes %s', async (_what, chunks, step) => {
  expect(await newest('step ', ...chunks)).toBe(step);
});

test('knows a prefix of any alphabet', async () => {
  expect(await newest('шаг №', 'эпоха 1, шаг №42\n')).toBe('42');
});

test('tells a step once, and does not mix the streams', async () => {
  const steps = new PrintedSteps('step ');
  const encoder = new TextEncoder();
  steps.add('stdout', encoder.encode('step 1'));
  steps.add('stderr', encoder.encode('step 2\n'));
  expect(await steps.read()).toBe('2');
  expect(await steps.read()).toBeUndefined();
  steps.add('stdout', encoder.encode('3\n'));
  expect(await steps.read()).toBe('13');
});
