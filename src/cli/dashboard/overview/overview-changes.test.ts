import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EMPTY_OVERVIEW, withOverviewMessage } from '../../../dashboard/messages/overview.ts';
import type { OverviewRow } from '../../../jobset/view/overview.ts';
import { overviewChanges, type Rows, toldRows } from './overview-changes.ts';

const ROW: OverviewRow = {
  namespace: 'default',
  name: 'a',
  uid: 'u',
  state: 'Released',
  shown: { kind: 'Running', text: 'Running' },
  epoch: 1,
  ready: 2,
  size: 2,
  budget: { countedRestarts: 0, maxRestarts: 5, extraRestarts: 0, restartsWithoutProgress: 0 },
  restarts: 0,
  goodput: 0.5,
  goodputUnknown: null,
  goodputUntilMs: 0,
  lastFailure: null,
  createdMs: 0,
  finishedMs: null,
};

const ROWS: fc.Arbitrary<Rows> = fc
  .uniqueArray(
    fc.record({
      uid: fc.constantFrom('1', '2', '3', '4'),
      state: fc.constantFrom('Released' as const, 'AtBarrier' as const),
      ready: fc.constantFrom(null, 0, 2),
      epoch: fc.nat(2),
    }),
    { selector: ({ uid }) => uid },
  )
  .map((rows) => new Map(rows.map((row) => [row.uid, { ...ROW, ...row }])));

it('a page that gets the changes has the rows of now', () => {
  fc.assert(
    fc.property(ROWS, ROWS, (before, now) => {
      const first = withOverviewMessage(EMPTY_OVERVIEW, {
        type: 'Rows',
        rows: [...before.values()],
      });
      const message = overviewChanges(before, now);
      const page = message === undefined ? first : withOverviewMessage(first, message);
      expect(page.rows).toEqual(now);
      expect(message === undefined ? before : toldRows(before, message)).toEqual(page.rows);
    }),
  );
});

it.each([
  [0.5001, false],
  [0.502, true],
  [null, true],
])('goodput %s is news after 0.5: %s', (goodput, isNews) => {
  const changes = overviewChanges(new Map([['u', ROW]]), new Map([['u', { ...ROW, goodput }]]));
  expect(changes !== undefined).toBe(isNews);
});
