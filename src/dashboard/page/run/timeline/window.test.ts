import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ALL,
  LEAST_SPAN_MS,
  momentAt,
  moved,
  pinched,
  type Span,
  shareOf,
  spanOf,
  type Window,
  windowOn,
  zoomed,
} from './window.ts';

const LIFE: Span = { fromMs: 1_000_000, toMs: 1_100_000 };

const TIME = fc.integer({ min: 0, max: 10_000_000_000 });
const LIVES = fc
  .tuple(TIME, fc.integer({ min: 0, max: 10_000_000_000 }))
  .map(([fromMs, ms]): Span => ({ fromMs, toMs: fromMs + ms }));
const WINDOWS: fc.Arbitrary<Window> = fc.oneof(
  fc.constant(ALL),
  fc.record({ kind: fc.constant('Last' as const), ms: TIME }),
  fc.record({
    kind: fc.constant('Fixed' as const),
    span: fc.record({ fromMs: TIME, toMs: TIME }),
  }),
);
const FACTORS = fc.double({ min: 0.01, max: 100, noNaN: true });

describe('spanOf', () => {
  it('shows a part of the life that is never too short', () => {
    fc.assert(
      fc.property(WINDOWS, LIVES, (window, life) => {
        const { fromMs, toMs } = spanOf(window, life);
        expect(fromMs).toBeGreaterThanOrEqual(life.fromMs);
        expect(toMs).toBeLessThanOrEqual(Math.max(life.toMs, life.fromMs + LEAST_SPAN_MS));
        expect(toMs - fromMs).toBeGreaterThanOrEqual(LEAST_SPAN_MS - 1e-3);
      }),
    );
  });

  it('lets a fixed window stay where it is while the life grows', () => {
    fc.assert(
      fc.property(LIVES, FACTORS, TIME, TIME, (life, factor, atMs, byMs) => {
        const window = zoomed(ALL, life, factor, atMs);
        const later = { ...life, toMs: life.toMs + byMs };
        if (window.kind !== 'Fixed') return;
        expect(spanOf(window, later)).toEqual(spanOf(window, life));
      }),
    );
  });

  it('follows the present with the whole life, and with its last part', () => {
    const later = { ...LIFE, toMs: LIFE.toMs + 5000 };
    expect(spanOf(ALL, later)).toEqual(later);
    const last: Window = { kind: 'Last', ms: 10_000 };
    expect(spanOf(last, later)).toEqual({ fromMs: later.toMs - 10_000, toMs: later.toMs });
  });
});

describe('zoomed', () => {
  it('keeps the moment below the pointer in its place', () => {
    const share = fc.double({ min: 0.1, max: 0.9, noNaN: true });
    const factor = fc.double({ min: 0.2, max: 1, noNaN: true });
    fc.assert(
      fc.property(share, factor, (at, by) => {
        const before = spanOf(ALL, LIFE);
        const after = spanOf(zoomed(ALL, LIFE, by, momentAt(before, at)), LIFE);
        expect(shareOf(after, momentAt(before, at))).toBeCloseTo(at, 6);
      }),
    );
  });

  it('is undone by the opposite factor', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.05, max: 1, noNaN: true }), (factor) => {
        const start: Window = { kind: 'Fixed', span: { fromMs: 1_040_000, toMs: 1_050_000 } };
        const back = zoomed(zoomed(start, LIFE, factor, 1_044_000), LIFE, 1 / factor, 1_044_000);
        const { fromMs, toMs } = spanOf(back, LIFE);
        expect(fromMs).toBeCloseTo(1_040_000, 3);
        expect(toMs).toBeCloseTo(1_050_000, 3);
      }),
    );
  });

  it('shows everything, and follows it, once it is wide enough', () => {
    expect(zoomed({ kind: 'Last', ms: 10_000 }, LIFE, 100, LIFE.toMs)).toEqual(ALL);
  });
});

describe('moved', () => {
  it('keeps the length and stays within the life', () => {
    fc.assert(
      fc.property(
        LIVES,
        FACTORS,
        TIME,
        fc.double({ min: -3, max: 3, noNaN: true }),
        (life, factor, atMs, share) => {
          const window = zoomed(ALL, life, factor, atMs);
          const before = spanOf(window, life);
          const after = spanOf(moved(window, life, share), life);
          expect(after.toMs - after.fromMs).toBeCloseTo(before.toMs - before.fromMs, 2);
        },
      ),
    );
  });

  it('follows the present when it gets there', () => {
    const window: Window = { kind: 'Fixed', span: { fromMs: 1_080_000, toMs: 1_095_000 } };
    expect(moved(window, LIFE, 1)).toEqual({ kind: 'Last', ms: 15_000 });
    expect(moved(window, LIFE, Number.POSITIVE_INFINITY)).toEqual({ kind: 'Last', ms: 15_000 });
    expect(moved(window, LIFE, -0.1).kind).toBe('Fixed');
    const first = { kind: 'Fixed', span: { fromMs: 1_000_000, toMs: 1_015_000 } };
    expect(moved(window, LIFE, Number.NEGATIVE_INFINITY)).toEqual(first);
  });
});

it('shows what two fingers hold between them', () => {
  const span = { fromMs: 0, toMs: 1000 };
  expect(pinched(span, [0.25, 0.75], [0, 1])).toEqual({ fromMs: 250, toMs: 750 });
  expect(pinched(span, [0.75, 0.25], [1, 0])).toEqual({ fromMs: 250, toMs: 750 });
  expect(pinched(span, [0.4, 0.6], [0.5, 0.7])).toMatchObject({ fromMs: expect.closeTo(-100, 6) });
});

it('makes a window of any two moments', () => {
  fc.assert(
    fc.property(LIVES, TIME, TIME, (life, fromMs, toMs) => {
      const window = windowOn({ fromMs, toMs }, life);
      const span = spanOf(window, life);
      expect(windowOn(span, life).kind).toBe(window.kind);
    }),
  );
});
