import { assert, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { configuration, SCHEMA, specs } from './configurations.fixture.ts';
import {
  difference,
  equalSets,
  fieldSet,
  fromFieldsV1,
  intersection,
  recursiveDifference,
  shownPaths,
  toFieldsV1,
  union,
} from './field-set.ts';
import { fieldsOf } from './owned-fields.ts';
import { fieldElement, keyElement, valueElement } from './path-element.ts';

const sets = specs.map((spec) => fieldsOf(configuration(spec), SCHEMA));
const two = record({ a: sets, b: sets });

describe('sets of fields', () => {
  it('are read back from their JSON', () => {
    assert(
      property(sets, (set) => {
        const json: unknown = JSON.parse(JSON.stringify(toFieldsV1(set)));
        expect(equalSets(fromFieldsV1(json), set)).toBe(true);
      }),
    );
  });

  it('obey the laws of sets', () => {
    assert(
      property(two, ({ a, b }) => {
        expect(equalSets(union(a, b), union(b, a))).toBe(true);
        expect(equalSets(intersection(a, b), intersection(b, a))).toBe(true);
        expect(equalSets(union(difference(a, b), intersection(a, b)), a)).toBe(true);
        expect(shownPaths(intersection(difference(a, b), b))).toEqual([]);
        expect(shownPaths(recursiveDifference(a, a))).toEqual([]);
      }),
    );
  });

  it('show their paths as messages do, members before what is below them', () => {
    const spec = fieldElement('spec');
    const ports = [spec, fieldElement('ports')];
    const set = fieldSet(
      [...ports, keyElement({ protocol: 'TCP', port: 80 }), fieldElement('name')],
      [...ports, keyElement({ port: 80, protocol: 'TCP' })],
      [...ports, keyElement({ port: 8, protocol: 'TCP' })],
      [spec, fieldElement('finalizers'), valueElement('a"b')],
      [spec, fieldElement('args')],
      [fieldElement('status')],
    );
    expect(shownPaths(set)).toEqual([
      '.status',
      '.spec.args',
      '.spec.finalizers[="a\\"b"]',
      '.spec.ports[port=8,protocol="TCP"]',
      '.spec.ports[port=80,protocol="TCP"]',
      '.spec.ports[port=80,protocol="TCP"].name',
    ]);
  });

  it('are read leniently: steps that make no sense are skipped', () => {
    const set = fromFieldsV1({
      'f:a': {},
      'f:b': { '.': {}, 'k:{"b":1,"a":"x"}': { 'f:c': {} } },
      'x:y': {},
      'k:[]': {},
      'v:{': {},
      [`v:${'['.repeat(10_000)}${']'.repeat(10_000)}`]: {},
      'k:{"a":{}}': {},
      'i:z': {},
      'i:3': {},
      short: {},
      f: {},
    });
    expect(toFieldsV1(set)).toEqual({
      'f:a': {},
      'f:b': { '.': {}, 'k:{"a":"x","b":1}': { 'f:c': {} } },
      'i:3': {},
    });
    expect(shownPaths(set)).toEqual(['.a', '.b', '[3]', '.b[a="x",b=1].c']);
    expect(shownPaths(fromFieldsV1('none'))).toEqual([]);
  });

  it('write values as Go does', () => {
    expect(toFieldsV1(fieldSet([valueElement('<a&b>')], [valueElement(true)]))).toEqual({
      'v:"\\u003ca\\u0026b\\u003e"': {},
      'v:true': {},
    });
  });
});
