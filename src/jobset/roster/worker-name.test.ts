import { expect, test } from 'vitest';
import { storedJob } from '../../../test/fixtures/jobset-objects.ts';
import { rankIn, workerInWords } from './worker-name.ts';

test.each([
  [0, '5', 'worker 5 of workers (workers-0, index 5)'],
  [2, '1', 'worker 17 of workers (workers-2, index 1)'],
  [3, undefined, 'a worker of workers-3'],
])('in Job %i, index %s is %s', (index, slot, words) => {
  const rank = rankIn(storedJob(`train-workers-${index}`, 'workers', { index, pods: 8 }), slot);
  expect(rank && workerInWords(rank)).toBe(words);
});

test('a Job that is of no JobSet has no workers', () => {
  const job = storedJob('train-workers-0', 'workers', { metadata: { labels: {} } });
  expect(rankIn(job, '0')).toBeUndefined();
});
