import { describe, expect, it } from 'vitest';
import { configurationErrors, joinedErrors } from './configuration-errors.ts';
import { SCHEMA } from './configurations.fixture.ts';

describe('a configuration is refused for', () => {
  it.each([
    ['a field that is not there', { txt: 'a' }, '.spec.txt: field not declared in schema'],
    ['a number for a text', { text: 1 }, '.spec.text: expected string, got &{1}'],
    ['a text for a map', { labels: 'x' }, '.spec.labels: expected map, got &{x}'],
    ['a map for a list', { args: {} }, '.spec.args: expected list, got &{{}}'],
    [
      'a text for a number',
      { ports: [{ port: 'x' }] },
      '.spec.ports[port="x",protocol="TCP"].port: expected numeric (int or float), got string',
    ],
    ['a number in an atomic list', { args: ['a', 1] }, '.spec.args[1]: expected string, got &{1}'],
    [
      'an element twice',
      { items: [{ name: 'a' }, { name: 'a' }] },
      '.spec.items: duplicate entries for key [name="a"]',
    ],
    [
      'a value twice',
      { finalizers: ['a', 'a'] },
      '.spec.finalizers: duplicate entries for key [="a"]',
    ],
    [
      'an element without a key',
      { items: [{ value: 'x' }] },
      '.spec.items: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
    ],
    [
      'an element that is none',
      { items: [null] },
      '.spec.items: element 0: associative list with keys may not have a null element',
    ],
    [
      'an object in a set',
      { finalizers: [{}] },
      ".spec.finalizers: element 0: associative list without keys has an element that's a map type",
    ],
  ] as const)('%s', (_, spec, expected) => {
    expect(configurationErrors({ spec }, SCHEMA)).toEqual([expected]);
  });

  it('several reasons, joined into one', () => {
    const errors = configurationErrors({ spec: { text: 1, labels: { a: true } } }, SCHEMA);
    expect(joinedErrors(errors)).toBe(
      'errors:\n  .spec.text: expected string, got &{1}\n  .spec.labels.a: expected string, got &{true}',
    );
  });

  it('nothing that its schema leaves open', () => {
    const spec = { free: { any: [1, { thing: null }] }, text: null, labels: null, items: [] };
    expect(configurationErrors({ spec }, SCHEMA)).toEqual([]);
  });
});
