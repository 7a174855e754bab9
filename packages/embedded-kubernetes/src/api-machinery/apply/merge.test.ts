import { describe, expect, it } from 'vitest';
import { SCHEMA } from './configurations.fixture.ts';
import { mergeConfiguration } from './merge.ts';

function merged(live: object, configuration: object): unknown {
  const result = mergeConfiguration({ spec: live }, { spec: configuration }, SCHEMA);
  return (result as { readonly spec: unknown }).spec;
}

describe('a configuration is merged', () => {
  it.each([
    ['into nothing', {}, { text: 'a' }, { text: 'a' }],
    ['field by field', { text: 'a', args: ['x'] }, { text: 'b' }, { text: 'b', args: ['x'] }],
    ['as a whole: an atomic list', { args: ['x', 'y'] }, { args: ['z'] }, { args: ['z'] }],
    ['as a whole: an atomic map', { selector: { a: '1' } }, { selector: {} }, { selector: {} }],
    [
      'entry by entry: a map',
      { labels: { a: '1', b: '2' } },
      { labels: { b: '3', c: '4' } },
      { labels: { a: '1', b: '3', c: '4' } },
    ],
    ['with an empty map', { labels: { a: '1' } }, { labels: {} }, { labels: { a: '1' } }],
    ['with null for a map', { labels: { a: '1' } }, { labels: null }, { labels: { a: '1' } }],
    ['with null for a text', { text: 'a' }, { text: null }, { text: null }],
    [
      'by what its schema does not know',
      { free: { deep: { a: 1, b: [1, 2] } } },
      { free: { deep: { b: [3] }, other: 'x' } },
      { free: { deep: { a: 1, b: [3] }, other: 'x' } },
    ],
    [
      'over a value of another form',
      { free: { a: 'text', b: { c: 1 } } },
      { free: { a: { c: 1 }, b: 'text' } },
      { free: { a: { c: 1 }, b: 'text' } },
    ],
  ] as const)('%s', (_, live, configuration, expected) => {
    expect(merged(live, configuration)).toEqual(expected);
  });
});

describe('elements of a list stand', () => {
  it.each([
    ['in the order of the configuration', ['a', 'b'], ['b', 'a'], ['b', 'a']],
    ['where they stood, if it does not know them', ['a', 'x', 'b'], ['a', 'b'], ['a', 'x', 'b']],
    ['at the end, if they are new', ['a'], ['b', 'c'], ['a', 'b', 'c']],
    ['in its order, with others between', ['a', 'b', 'x'], ['b', 'a', 'y'], ['b', 'x', 'a', 'y']],
    ['before others, if it has them first', ['b'], ['a', 'b'], ['a', 'b']],
    ['together with all that are there twice', ['a', 'x', 'x'], ['a', 'b'], ['a', 'x', 'x', 'b']],
  ] as const)('%s', (_, live, configuration, expected) => {
    expect(merged({ finalizers: live }, { finalizers: configuration })).toEqual({
      finalizers: expected,
    });
  });

  it('under all their keys; a key may be left out if it has a default', () => {
    const live = { ports: [{ port: 80 }, { port: 80, protocol: 'UDP', name: 'u' }] };
    const configuration = { ports: [{ port: 80, protocol: 'TCP', name: 't' }] };
    expect(merged(live, configuration)).toEqual({
      ports: [
        { port: 80, protocol: 'TCP', name: 't' },
        { port: 80, protocol: 'UDP', name: 'u' },
      ],
    });
  });

  it('unmerged with one that is there twice', () => {
    const live = {
      items: [
        { name: 'a', value: '1' },
        { name: 'a', value: '2' },
      ],
    };
    expect(merged(live, { items: [{ name: 'a', tags: ['x'] }] })).toEqual({
      items: [{ name: 'a', tags: ['x'] }],
    });
  });
});
