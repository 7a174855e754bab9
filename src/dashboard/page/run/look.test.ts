import fc from 'fast-check';
import { expect, it } from 'vitest';
import { lookOf, NO_LOOK, type RunLook, textOfLook } from './look.ts';

const MS = fc.integer({ min: 1, max: Date.UTC(2100) });
const LOOKS: fc.Arbitrary<RunLook> = fc.record({
  member: fc.constantFrom(null, 'train-w-0-1-zbtns', 'a.b'),
  process: fc.option(fc.integer({ min: 0, max: 63 })),
  restart: fc.option(fc.integer({ min: 1, max: 2_147_483_647 })),
  window: fc.oneof(
    fc.constant({ kind: 'All' as const }),
    fc.record({ kind: fc.constant('Last' as const), ms: MS }),
    fc.tuple(MS, MS).map(([fromMs, ms]) => {
      return { kind: 'Fixed' as const, span: { fromMs, toMs: fromMs + ms } };
    }),
  ),
});

it('finds what is looked at again by its address', () => {
  fc.assert(
    fc.property(LOOKS, (look) => {
      expect(lookOf(textOfLook(look))).toEqual(look);
    }),
  );
});

it('says nothing of what nobody chose', () => {
  expect(textOfLook(NO_LOOK)).toBe('');
});

it.each([
  'member=',
  'member=<img src=x onerror=alert(1)>',
  `member=${'a'.repeat(254)}`,
  'member=../../etc/passwd',
  'process=-1',
  'process=100',
  'process=1e1',
  'restart=0',
  'restart=-1',
  'restart=1e9',
  'restart=99999999999',
  'restart=NaN',
  'last=0',
  'last=-5',
  'last=Infinity',
  'from=1',
  'to=5',
  'from=5&to=5',
  'from=9&to=5',
  'from=1&to=999999999999999',
  'from=0x10&to=0x20',
  'window=All&__proto__=1&%E0%A4%A=%',
])('ignores %j', (text) => {
  expect(lookOf(text)).toEqual(NO_LOOK);
});
