import { expect, it } from 'vitest';
import type { DatedCondition, EventView } from '../../../messages/run.ts';
import { FILTERS, historyOf, isShown } from './history.ts';

const CONDITIONS: readonly DatedCondition[] = [
  { type: 'Suspended', status: 'False', reason: 'Resumed', message: 'goes on', timeMs: 20 },
  { type: 'Failed', status: 'True', reason: 'Limit', message: 'no restarts left', timeMs: 90 },
];
const EVENTS: readonly EventView[] = [
  {
    uid: 'a',
    timeMs: 50,
    type: 'Normal',
    reason: 'Restart',
    message: 'epoch 2',
    count: 3,
    about: '',
  },
  {
    uid: 'b',
    timeMs: 10,
    type: 'Warning',
    reason: 'FailedCreate',
    message: 'quota',
    count: 1,
    about: 'Job w-0',
  },
];

it('tells what happened, the newest first', () => {
  expect(historyOf(CONDITIONS, EVENTS).map(({ title, timeMs }) => [timeMs, title])).toEqual([
    [90, 'Failed is True (Limit)'],
    [50, 'Restart'],
    [20, 'Suspended is False (Resumed)'],
    [10, 'FailedCreate'],
  ]);
});

it('leaves out what a reader does not look for', () => {
  const all = historyOf(CONDITIONS, EVENTS);
  const times = FILTERS.map((filter) =>
    all.filter((each) => isShown(filter, '', each)).map(({ timeMs }) => timeMs),
  );
  expect(times).toEqual([
    [90, 50, 20, 10],
    [90, 10],
    [90, 20],
    [50, 10],
  ]);
  expect(all.filter((each) => isShown('All', ' QUOTA', each))).toHaveLength(1);
  expect(all.filter((each) => isShown('All', 'job w-0', each))).toHaveLength(1);
});
