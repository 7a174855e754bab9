import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OverviewRow } from '../../../jobset/view/overview.ts';
import { COLUMNS } from './columns.ts';
import { listing } from './listing.ts';
import { NO_QUERY, type Query } from './query.ts';

const FAILED = { kind: 'Failed', text: 'Failed' } as const;

function row(name: string, more: Partial<OverviewRow> = {}): OverviewRow {
  return {
    namespace: 'default',
    name,
    uid: name,
    state: 'Released',
    shown: { kind: 'Running', text: 'Running' },
    epoch: 1,
    ready: 4,
    size: 4,
    budget: { countedRestarts: 0, maxRestarts: 3, extraRestarts: 0, restartsWithoutProgress: 0 },
    restarts: 0,
    goodput: null,
    goodputUnknown: 'no checkpoint was reported',
    goodputUntilMs: null,
    lastFailure: null,
    createdMs: 0,
    finishedMs: null,
    ...more,
  };
}

function names(rows: readonly OverviewRow[], query: Partial<Query>): readonly string[] {
  return listing(rows, { ...NO_QUERY, ...query }).rows.map(({ name }) => name);
}

describe('the filter', () => {
  const rows = [
    row('Llama-1', { namespace: 'a', shown: FAILED }),
    row('llama-2', { namespace: 'b' }),
    row('bert', { namespace: 'b', shown: FAILED }),
  ];

  it.each<[Partial<Query>, readonly string[]]>([
    [{}, ['bert', 'Llama-1', 'llama-2']],
    [{ namespace: 'b' }, ['bert', 'llama-2']],
    [{ namespace: 'c' }, []],
    [{ name: ' LLAMA' }, ['Llama-1', 'llama-2']],
    [{ states: ['Failed'] }, ['bert', 'Llama-1']],
    [{ states: ['Failed', 'Running'], name: '2' }, ['llama-2']],
  ])('%j shows %j', (query, shown) => {
    expect(names(rows, { sort: 'name', ...query })).toEqual(shown);
  });

  it('counts states among what else is asked for, and knows all namespaces', () => {
    const { counts, namespaces } = listing(rows, {
      ...NO_QUERY,
      namespace: 'b',
      states: ['Failed'],
    });
    expect(counts.get('Failed')).toBe(1);
    expect(counts.get('Running')).toBe(1);
    expect(counts.get('Completed')).toBe(0);
    expect(namespaces).toEqual(['a', 'b']);
  });
});

describe('the order', () => {
  it.each<[string, Partial<Query>, readonly OverviewRow[], readonly string[]]>([
    ['numbers in names', { sort: 'name' }, [row('r-10'), row('r-9')], ['r-9', 'r-10']],
    [
      'what asks for attention first',
      { sort: 'state' },
      [
        row('a', { shown: { kind: 'Completed', text: 'Completed' } }),
        row('b'),
        row('c', { shown: FAILED }),
      ],
      ['c', 'b', 'a'],
    ],
    [
      'the youngest first',
      { sort: 'age' },
      [row('old', { createdMs: 1 }), row('new', { createdMs: 2 })],
      ['new', 'old'],
    ],
    [
      'the last failure first',
      { sort: 'failure' },
      [
        row('none'),
        row('old', { lastFailure: { timeMs: 1, text: '' } }),
        row('new', { lastFailure: { timeMs: 2, text: '' } }),
      ],
      ['new', 'old', 'none'],
    ],
    [
      'the unknown last, also if it is turned',
      { sort: 'goodput', isDescending: true },
      [row('unknown'), row('low', { goodput: 0 }), row('high', { goodput: 1 })],
      ['high', 'low', 'unknown'],
    ],
    [
      'the share of ready members',
      { sort: 'ready' },
      [row('all'), row('half', { ready: 2 }), row('empty', { ready: 0, size: 0 })],
      ['half', 'all', 'empty'],
    ],
  ])('is by %s', (_, query, rows, shown) => {
    expect(names(rows, query)).toEqual(shown);
  });

  const ROWS = fc.uniqueArray(
    fc.record({ n: fc.nat(99), goodput: fc.option(fc.double({ noNaN: true })), at: fc.nat(3) }),
    { selector: ({ n }) => n },
  );

  it('does not depend on the order in which rows came', () => {
    fc.assert(
      fc.property(ROWS, fc.constantFrom(...COLUMNS), fc.boolean(), (all, sort, isDescending) => {
        const rows = all.map(({ n, goodput, at }) => row(`r-${n}`, { goodput, createdMs: at }));
        const query = { sort, isDescending };
        expect(names(rows.toReversed(), query)).toEqual(names(rows, query));
      }),
    );
  });
});
