import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addressOf, type Route, routeOf } from './route.ts';
import { NO_LOOK, type RunLook } from './run/look.ts';

const ROUTES: fc.Arbitrary<Route> = fc.oneof(
  fc.constant({ view: 'Overview' as const }),
  fc.record({
    view: fc.constant('Run' as const),
    namespace: fc.string({ minLength: 1 }),
    name: fc.string({ minLength: 1 }),
    tab: fc.constantFrom('run' as const, 'spec' as const),
    look: fc.constantFrom<RunLook>(NO_LOOK, { ...NO_LOOK, member: 'train-0', restart: 3 }),
  }),
);

it('finds each view again by its address', () => {
  fc.assert(
    fc.property(ROUTES, (route) => {
      expect(routeOf(addressOf(route))).toEqual(route);
    }),
  );
});

it.each(['', '#', '#/', '#/jobset', '#/jobset/a', '#/jobset//b', '#/%E0%A4%A', '#/jobset/%/b'])(
  'shows all JobSets at %j',
  (hash) => {
    expect(routeOf(hash)).toEqual({ view: 'Overview' });
  },
);
