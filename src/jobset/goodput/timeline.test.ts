import { expect, test } from 'vitest';
import { CREATED, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { microTimeText } from '../../kube/time.ts';
import { timelineOf } from './timeline.ts';

const CREATED_MS = Date.parse(CREATED);

test('time whose order is unknown is summed up', () => {
  const time = microTimeText(CREATED_MS + 60_000);
  const goodput = { time, phase: 'Running', waitingMs: 10_000, productiveMs: 50_000 } as const;
  const jobSet = { ...storedJobSet({}), status: { goodput } };
  expect(timelineOf(jobSet, CREATED_MS + 60_000)).toEqual([
    {
      fromMs: CREATED_MS,
      toMs: CREATED_MS + 10_000,
      class: 'Waiting',
      epoch: null,
      isSummary: true,
    },
    {
      fromMs: CREATED_MS + 10_000,
      toMs: CREATED_MS + 60_000,
      class: 'Productive',
      epoch: null,
      isSummary: true,
    },
  ]);
});

test('nothing is known of a JobSet whose time is not accounted for', () => {
  expect(timelineOf({ ...storedJobSet({}), status: {} }, CREATED_MS)).toEqual([]);
});
