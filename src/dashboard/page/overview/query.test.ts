import fc from 'fast-check';
import { expect, it } from 'vitest';
import { STATES } from '../elements/state-words.ts';
import { routeOf } from '../route.ts';
import { COLUMNS } from './columns.ts';
import { addressOfQuery, NO_QUERY, type Query, queryOf, sortedBy, withState } from './query.ts';

const QUERIES: fc.Arbitrary<Query> = fc.record({
  namespace: fc.string(),
  states: fc.subarray([...STATES]),
  name: fc.string(),
  sort: fc.constantFrom(...COLUMNS),
  isDescending: fc.boolean(),
});

it('finds each query again by its address, which shows all JobSets', () => {
  fc.assert(
    fc.property(QUERIES, (query) => {
      const address = addressOfQuery(query);
      expect(queryOf(address)).toEqual(query);
      expect(routeOf(address)).toEqual({ view: 'Overview' });
    }),
  );
});

it('needs no address for what is usual', () => {
  expect(addressOfQuery(NO_QUERY)).toBe('#/');
});

it.each(['', '#', '#/', '#/?', '#/?state=None&sort=none&order=up', '#/jobset/a/b?name=x'])(
  'leaves out what %j says wrongly',
  (hash) => {
    expect(queryOf(hash)).toEqual(NO_QUERY);
  },
);

it('turns the order of a column that is chosen again', () => {
  const byName = sortedBy(NO_QUERY, 'name');
  expect(byName).toEqual({ ...NO_QUERY, sort: 'name', isDescending: false });
  expect(sortedBy(byName, 'name').isDescending).toBe(true);
  expect(sortedBy(sortedBy(byName, 'name'), 'name').isDescending).toBe(false);
});

it('adds and leaves out states', () => {
  const two = withState(withState(NO_QUERY, 'Completed', true), 'Failed', true);
  expect(two.states).toEqual(['Failed', 'Completed']);
  expect(withState(two, 'Failed', false).states).toEqual(['Completed']);
});
