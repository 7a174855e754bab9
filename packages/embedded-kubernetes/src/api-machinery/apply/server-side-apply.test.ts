import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import { assert, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareFields } from './comparison.ts';
import { configuration, SCHEMA, someFields, someSpecs, specs } from './configurations.fixture.ts';
import {
  difference,
  equalSets,
  fieldSet,
  NO_FIELDS,
  recursiveDifference,
  shownPaths,
  union,
} from './field-set.ts';
import { type Manager, type Managers, managerKey, NO_MANAGERS } from './managers.ts';
import { fieldsOf } from './owned-fields.ts';
import { fieldElement } from './path-element.ts';
import {
  type Applied,
  applyConfiguration,
  type ManagedKind,
  managersAfterUpdate,
} from './server-side-apply.ts';

const KIND: ManagedKind = { schema: SCHEMA, ignored: fieldSet([fieldElement('status')]) };
const NOTHING: Applied = { object: {}, managers: NO_MANAGERS };
const METADATA = fieldSet(
  [fieldElement('metadata')],
  [fieldElement('apiVersion')],
  [fieldElement('kind')],
);

function manager(name: string, operation: Manager['operation'] = 'Apply'): Manager {
  return { name, operation, apiVersion: 'example.com/v1', subresource: '' };
}

function attempt(state: Applied, by: string, wanted: JsonObject, isForced: boolean, now = 't') {
  const request = { live: state.object, managers: state.managers, manager: manager(by), now };
  return applyConfiguration(KIND, { ...request, configuration: wanted, isForced });
}

function apply(state: Applied, by: string, spec: JsonObject | undefined, now?: string): Applied {
  const result = attempt(state, by, configuration(spec), true, now);
  if ('conflicts' in result) throw new Error('a forced apply has conflicts');
  return result;
}

function conflicts(state: Applied, by: string, spec: JsonObject): readonly string[] {
  const result = attempt(state, by, configuration(spec), false);
  if (!('conflicts' in result)) return [];
  return result.conflicts.flatMap((one) =>
    shownPaths(one.fields).map((path) => `${one.manager.name}: ${path}`),
  );
}

function update(state: Applied, by: string, spec: JsonObject): Applied {
  const object = { ...state.object, spec };
  const request = { live: state.object, object, managers: state.managers, now: 'u' };
  const managers = managersAfterUpdate(KIND, { ...request, manager: manager(by, 'Update') });
  return { object, managers };
}

/** Paths that a manager owns. */
function owned({ managers }: Applied, by: Manager): readonly string[] {
  return shownPaths(managers.get(managerKey(by))?.fields ?? NO_FIELDS);
}

function isSameState(a: Applied, b: Applied): void {
  const { removed, modified, added } = compareFields(a.object, b.object, SCHEMA);
  expect([removed, modified, added].flatMap(shownPaths)).toEqual([]);
  expect([...a.managers.keys()].toSorted()).toEqual([...b.managers.keys()].toSorted());
  for (const [key, { fields }] of a.managers) {
    expect(equalSets(fields, b.managers.get(key)?.fields ?? NO_FIELDS)).toBe(true);
  }
}

function part(spec: JsonObject, names: readonly string[], isIn: boolean): JsonObject | undefined {
  const fields = Object.entries(spec).filter(([name]) => names.includes(name) === isIn);
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

describe('server-side apply', () => {
  it('changes nothing when it is done twice', () => {
    assert(
      property(record({ first: specs, other: specs, spec: someSpecs }), (given) => {
        const before = apply(apply(NOTHING, 'a', given.first), 'b', given.other);
        const once = apply(before, 'a', given.spec, '1');
        const twice = apply(once, 'a', given.spec, '2');
        expect(twice.object).toEqual(once.object);
        expect(twice.managers).toEqual(once.managers);
      }),
    );
  });

  it('has the same outcome in any order for those who own different fields', () => {
    assert(
      property(record({ spec: specs, names: someFields }), ({ spec, names }) => {
        const [a, b] = [part(spec, names, true), part(spec, names, false)];
        isSameState(apply(apply(NOTHING, 'a', a), 'b', b), apply(apply(NOTHING, 'b', b), 'a', a));
      }),
    );
  });

  it('takes away what one has applied when it applies nothing, and only that', () => {
    assert(
      property(record({ mine: specs, theirs: specs }), ({ mine, theirs }) => {
        const before = apply(NOTHING, 'them', theirs);
        if (conflicts(before, 'me', mine).length > 0) return;
        const after = apply(apply(before, 'me', mine), 'me', undefined);
        isSameState(after, before);
      }),
    );
  });

  it('leaves no field without an owner', () => {
    assert(
      property(record({ first: specs, second: specs, third: someSpecs }), (given) => {
        const state = apply(
          apply(apply(NOTHING, 'a', given.first), 'b', given.second),
          'a',
          given.third,
        );
        const all = [...state.managers.values()].reduce(
          (fields, one) => union(fields, one.fields),
          NO_FIELDS,
        );
        const present = recursiveDifference(fieldsOf(state.object, SCHEMA), METADATA);
        expect(shownPaths(difference(present, all))).toEqual([]);
      }),
    );
  });

  it('gives its manager what it wants, or names the fields that others own otherwise', () => {
    assert(
      property(record({ first: specs, second: specs }), ({ first, second }) => {
        const before = apply(NOTHING, 'a', first);
        const result = attempt(before, 'b', configuration(second), false);
        if ('conflicts' in result) {
          expect(result.conflicts.flatMap(({ fields }) => shownPaths(fields))).not.toEqual([]);
          return;
        }
        const change = compareFields(before.object, result.object, SCHEMA);
        expect(shownPaths(union(change.modified, change.removed))).toEqual([]);
      }),
    );
  });

  it('is no conflict where values agree: then both own the field, and it goes with the last', () => {
    const one = apply(NOTHING, 'a', { text: '1' });
    expect(conflicts(one, 'b', { text: '1' })).toEqual([]);
    const both = apply(one, 'b', { text: '1' }, 'later');
    expect(owned(both, manager('b'))).toEqual(['.spec.text']);
    expect(both.managers.get(managerKey(manager('b')))?.time).toBeUndefined();
    const left = apply(both, 'a', undefined);
    expect(left.object['spec']).toEqual({ text: '1' });
    expect(apply(left, 'b', undefined).object['spec']).toBeUndefined();
  });

  it('names each field in conflict with its manager', () => {
    const state = update(
      apply(NOTHING, 'a', { text: '1', items: [{ name: 'x', value: '1' }], args: ['1'] }),
      'c',
      { text: '1', items: [{ name: 'x', value: '2' }], args: ['1'] },
    );
    const wanted = { text: '2', items: [{ name: 'x', value: '3' }], args: ['1', '2'] };
    expect(conflicts(state, 'b', wanted)).toEqual([
      'a: .spec.args',
      'a: .spec.text',
      'c: .spec.items[name="x"].value',
    ]);
  });

  it('keeps elements of a list that others have added, and what others own of one', () => {
    const first = apply(NOTHING, 'a', { items: [{ name: 'x', value: '1' }, { name: 'y' }] });
    const second = apply(first, 'b', { items: [{ name: 'x', tags: ['t'] }, { name: 'z' }] });
    expect(apply(second, 'a', { items: [] }).object['spec']).toEqual({
      items: [{ name: 'x', tags: ['t'] }, { name: 'z' }],
    });
  });

  it('owns nothing that its resource cannot change, nor what identifies the object', () => {
    const wanted = { ...configuration({ text: '1' }), status: { phase: 'x' } };
    const result = attempt(NOTHING, 'a', wanted, false);
    if ('conflicts' in result) throw new Error('a first apply has conflicts');
    expect(owned(result, manager('a'))).toEqual(['.spec.text']);
  });
});

describe('another write', () => {
  it('owns what it changes, and those who owned it no longer do', () => {
    const applied = apply(NOTHING, 'a', { text: '1', labels: { a: '1', b: '1' } });
    const state = update(applied, 'c', { text: '1', labels: { a: '2', c: '1' } });
    expect(owned(state, manager('a'))).toEqual(['.spec.text']);
    expect(owned(state, manager('c', 'Update'))).toEqual(['.spec.labels.a', '.spec.labels.c']);
  });

  it('owns nothing if it changes nothing, or only removes fields', () => {
    const applied = apply(NOTHING, 'a', { text: '1', labels: { a: '1' } });
    expect(update(applied, 'c', { text: '1', labels: { a: '1' } })).toEqual(applied);
    const state = update(applied, 'c', { text: '1' });
    expect(owned(state, manager('a'))).toEqual(['.spec.text']);
    expect(state.managers.size).toBe(1);
  });

  it('adds to what its manager owns', () => {
    const first = update(apply(NOTHING, 'a', { text: '1' }), 'c', { text: '2' });
    const second = update(first, 'c', { text: '2', args: ['x'] });
    expect(owned(second, manager('c', 'Update'))).toEqual(['.spec.args', '.spec.text']);
  });

  it('keeps the number of managers bounded', () => {
    const last = Array.from({ length: 30 }).reduce<Applied>(
      (state, _, at) => update(state, `m${at}`, { labels: { [`l${at}`]: '1' } }),
      update(apply(NOTHING, 'a', { text: '1' }), 'first', { labels: {} }),
    );
    const names = [...last.managers.values()].map(({ manager: { name } }) => name);
    expect(names.length).toBeLessThanOrEqual(11);
    expect(allManagers(last.managers)).toContain('m29');
  });
});

function allManagers(managers: Managers): readonly string[] {
  return [...managers.values()].map(({ manager: { name } }) => name);
}
