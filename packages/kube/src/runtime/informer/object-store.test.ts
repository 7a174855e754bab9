import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject, Stored } from '../../meta.ts';
import { type ObjectEvent, ObjectStore } from './object-store.ts';

function object(
  name: string,
  resourceVersion: string,
  options: { readonly uid?: string; readonly labels?: Readonly<Record<string, string>> } = {},
): Stored<KubeObject> {
  const { uid = `uid-${name}`, labels = {} } = options;
  const metadata = { name, namespace: 'ns', uid, resourceVersion, creationTimestamp: '', labels };
  return { apiVersion: 'v1', kind: 'Pod', metadata };
}

function event(type: ObjectEvent<KubeObject>['type'], of: Stored<KubeObject>) {
  return { type, object: of };
}

/** Finds an object under the values of all its labels. */
const INDEXES = { label: (of: KubeObject) => Object.values(of.metadata.labels ?? {}) };

function indexed(store: ObjectStore<KubeObject>, value: string): readonly string[] {
  return [...store.byIndex('label', value)].map(({ metadata }) => metadata.name).sort();
}

describe('ObjectStore', () => {
  it('finds objects by key and by index, and forgets where they were', () => {
    const store = new ObjectStore(INDEXES);
    store.replace([object('a', '1', { labels: { x: 'red', y: 'round' } }), object('b', '2')], '2');
    expect(store.get('ns/a')?.metadata.uid).toBe('uid-a');
    expect([indexed(store, 'red'), indexed(store, 'round')]).toEqual([['a'], ['a']]);
    store.apply(event('MODIFIED', object('a', '3', { labels: { x: 'blue' } })));
    expect([indexed(store, 'red'), indexed(store, 'round'), indexed(store, 'blue')]).toEqual([
      [],
      [],
      ['a'],
    ]);
    store.apply(event('DELETED', object('a', '4', { labels: { x: 'green' } })));
    expect([indexed(store, 'blue'), indexed(store, 'green')]).toEqual([[], []]);
    store.replace([object('b', '5', { labels: { x: 'blue' } })], '5');
    expect(indexed(store, 'blue')).toEqual(['b']);
  });

  it('refuses an index that was not declared', () => {
    expect(() => new ObjectStore(INDEXES).byIndex('colour', 'red')).toThrow(
      'there is no index "colour"',
    );
  });

  it('tells a deletion with the state in which the object went', () => {
    const store = new ObjectStore();
    store.replace([object('a', '1')], '1');
    const last = object('a', '2', { labels: { last: 'word' } });
    expect(store.apply(event('DELETED', last))).toEqual([{ type: 'deleted', object: last }]);
  });

  it('takes an object of the same name for another one when its UID is another', () => {
    const store = new ObjectStore();
    const [first, second, third] = ['1', '2', '3'].map((n) => object('a', n, { uid: `u${n}` }));
    if (first === undefined || second === undefined || third === undefined) throw new Error();
    store.replace([first], '1');
    expect(store.apply(event('MODIFIED', second))).toEqual([
      { type: 'deleted', object: first },
      { type: 'added', object: second },
    ]);
    expect(store.replace([third], '3')).toEqual([
      { type: 'deleted', object: second },
      { type: 'added', object: third },
    ]);
  });

  it('compares versions as numbers of any length, and takes versions of other kinds as they come', () => {
    const store = new ObjectStore();
    store.replace([object('a', '9')], '9');
    expect(store.apply(event('MODIFIED', object('a', '10'))).length).toBe(1);
    expect(store.apply(event('MODIFIED', object('a', '9'))).length).toBe(0);
    expect(store.apply(event('MODIFIED', object('a', 'opaque'))).length).toBe(1);
    expect(store.resourceVersion).toBe('opaque');
  });

  it('goes back to an older version only by a whole collection', () => {
    const store = new ObjectStore();
    store.replace([object('a', '9')], '9');
    expect(store.advance('8')).toBe(false);
    store.replace([object('a', '5')], '5');
    expect([store.resourceVersion, store.get('ns/a')?.metadata.resourceVersion]).toEqual([
      '5',
      '5',
    ]);
  });

  it('always has the indexes that its objects ask for', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd');
    const value = fc.constantFrom('red', 'blue', 'green');
    const labels = fc.dictionary(fc.constantFrom('x', 'y'), value);
    const change = fc.record({
      do: fc.constantFrom('ADDED', 'MODIFIED', 'DELETED', 'replace' as const),
      names: fc.uniqueArray(name, { minLength: 1 }),
      labels,
    });
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        const store = new ObjectStore(INDEXES);
        let version = 0;
        for (const step of changes) {
          version++;
          const objects = step.names.map((n) =>
            object(n, String(version), { labels: step.labels }),
          );
          const [first] = objects;
          if (step.do === 'replace') store.replace(objects, String(version));
          else if (first !== undefined) store.apply(event(step.do, first));
          for (const wanted of ['red', 'blue', 'green']) {
            const holders = [...store.values()].filter((held) =>
              Object.values(held.metadata.labels ?? {}).includes(wanted),
            );
            expect(indexed(store, wanted)).toEqual(
              holders.map((held) => held.metadata.name).sort(),
            );
          }
        }
      }),
    );
  });
});
