import { expect, it } from 'vitest';
import { withShortNames } from './short-names.ts';

it.each([
  ['worker 5 of w (w-0, index 5): killed by SIGKILL', 'worker 5: killed by SIGKILL'],
  [
    'likely worker 9 of w (w-1, index 1) on node n: was silent',
    'likely worker 9 on node n: was silent',
  ],
  ['a worker of w-0: exited', 'a worker of w-0: exited'],
  ['worker 5 of w (head-0, index 5)', 'worker 5 of w (head-0, index 5)'],
])('shortens %j', (text, short) => {
  expect(withShortNames(text, 1)).toBe(short);
});

it('names the ReplicatedJob where there are several', () => {
  expect(withShortNames('worker 5 of w (w-0, index 5): slow', 2)).toBe('worker 5 of w: slow');
});
