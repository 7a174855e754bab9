import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clone } from '../json/clone.ts';
import type { JsonObject } from '../json/json-value.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { ApiStatusError } from '../status.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

const MERGE = 'x-kubernetes-patch-strategy';
const KEY = 'x-kubernetes-patch-merge-key';

/** A small Pod: lists merged by name, a plain list that is merged, one that is not, and maps. */
const ENV: JsonSchema = { [MERGE]: 'merge', [KEY]: 'name', items: {} };
const SCHEMA: JsonSchema = {
  properties: {
    finalizers: { [MERGE]: 'merge' },
    labels: { additionalProperties: {} },
    whole: { [MERGE]: 'replace' },
    tolerations: {},
    containers: { [MERGE]: 'merge', [KEY]: 'name', items: { properties: { env: ENV } } },
    volumes: { [MERGE]: 'merge,retainKeys', [KEY]: 'name', items: {} },
  },
};

function named(...names: string[]): { name: string }[] {
  return names.map((name) => ({ name }));
}

describe('applyStrategicMergePatch', () => {
  it.each<[string, JsonObject, JsonObject, JsonObject]>([
    [
      'merges maps',
      { labels: { a: '1', b: '2' } },
      { labels: { b: '3' } },
      { labels: { a: '1', b: '3' } },
    ],
    [
      'removes by null',
      { labels: { a: '1', b: '2' } },
      { labels: { a: null } },
      { labels: { b: '2' } },
    ],
    ['leaves no null in what is new', {}, { labels: { a: null, b: '1' } }, { labels: { b: '1' } }],
    [
      'replaces a list without strategy',
      { tolerations: [1] },
      { tolerations: [2] },
      { tolerations: [2] },
    ],
    [
      'replaces a map of that strategy',
      { whole: { a: 1 } },
      { whole: { b: 1 } },
      { whole: { b: 1 } },
    ],
    [
      'merges elements by key, deep',
      { containers: [{ name: 'a', image: 'i', env: [{ name: 'X', value: '1' }] }, { name: 'b' }] },
      { containers: [{ name: 'a', env: [{ name: 'X', value: '2' }, { name: 'Y' }] }] },
      {
        containers: [
          { name: 'a', image: 'i', env: [{ name: 'X', value: '2' }, { name: 'Y' }] },
          { name: 'b' },
        ],
      },
    ],
    [
      'puts new elements before those that only the server knows',
      { containers: named('a', 'b') },
      { containers: named('c') },
      { containers: named('c', 'a', 'b') },
    ],
    [
      'deletes an element',
      { containers: named('a', 'b', 'c') },
      { containers: [{ name: 'b', $patch: 'delete' }] },
      { containers: named('a', 'c') },
    ],
    [
      'replaces a list that would be merged',
      { containers: named('a', 'b') },
      { containers: [{ $patch: 'replace' }, ...named('c')] },
      { containers: named('c') },
    ],
    [
      'replaces a map',
      { labels: { a: '1' } },
      { labels: { $patch: 'replace', b: '2' } },
      { labels: { b: '2' } },
    ],
    ['empties a map', { labels: { a: '1' } }, { labels: { $patch: 'delete' } }, { labels: {} }],
    [
      'adds to a merged list of scalars',
      { finalizers: ['a'] },
      { finalizers: ['b', 'a'] },
      { finalizers: ['b', 'a'] },
    ],
    [
      'removes from a list of scalars',
      { finalizers: ['a', 'b', 'c'] },
      { '$deleteFromPrimitiveList/finalizers': ['b', 'x'] },
      { finalizers: ['a', 'c'] },
    ],
    [
      'orders elements as the client says',
      { containers: named('a', 'b', 'c') },
      { '$setElementOrder/containers': named('c', 'a') },
      { containers: named('b', 'c', 'a') },
    ],
    [
      'orders scalars as the client says',
      { finalizers: ['a', 'b'] },
      { '$setElementOrder/finalizers': ['c', 'b', 'a'], finalizers: ['c'] },
      { finalizers: ['c', 'b', 'a'] },
    ],
    [
      'keeps only the members that the client lists',
      { volumes: [{ name: 'v', emptyDir: {}, other: 1 }] },
      { volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/' } }] },
      { volumes: [{ name: 'v', hostPath: { path: '/' } }] },
    ],
    [
      'replaces a value by another type',
      { labels: 'x' },
      { labels: { a: '1' } },
      { labels: { a: '1' } },
    ],
    [
      'merges maps that the schema does not know',
      { x: { a: 1 } },
      { x: { b: 1 } },
      { x: { a: 1, b: 1 } },
    ],
    ['replaces everything', { labels: {}, x: 1 }, { $patch: 'replace', y: 1 }, { y: 1 }],
  ])('%s', (_, original, patch, expected) => {
    const before = JSON.stringify([original, patch]);
    expect(applyStrategicMergePatch(original, patch, SCHEMA)).toEqual(expected);
    expect(JSON.stringify([original, patch])).toBe(before);
  });

  it.each<[string, JsonObject, RegExp]>([
    ['an element without its key', { containers: [{ image: 'i' }] }, /declared merge key: name/],
    ['an unknown directive', { labels: { $patch: 'remove' } }, /unknown patch type: remove/],
    [
      'an unknown directive in a list',
      { containers: [{ name: 'a', $patch: 'x' }] },
      /unknown patch type/,
    ],
    [
      'merging a list by directive',
      { containers: [{ $patch: 'merge' }] },
      /cannot yet be specified/,
    ],
    ['a deletion that names nothing', { containers: [{ $patch: 'delete' }] }, /declared merge key/],
    ['an order that is no list', { '$setElementOrder/containers': 1 }, /setElementOrder list/],
    ['an order of no field', { $setElementOrder: [] }, /setElementOrder list/],
    ['a deletion that is no list', { '$deleteFromPrimitiveList/finalizers': 1 }, /primitive list/],
    [
      'an order that the patch contradicts',
      { '$setElementOrder/containers': named('a', 'b'), containers: named('b', 'a') },
      /order in patch list/,
    ],
    ['members that it does not retain', { $retainKeys: ['labels'], finalizers: [] }, /retainKeys/],
    ['elements of two kinds', { finalizers: ['b', 1] }, /not identical/],
    ['lists of lists', { finalizers: [['b']] }, /lists of lists/],
    [
      'a scalar for an ordered list',
      { '$setElementOrder/containers': [], containers: 1 },
      /a list/,
    ],
  ])('refuses %s', (_, patch, message) => {
    const original = { labels: { a: '1' }, finalizers: ['a'], containers: named('a', 'b') };
    const apply = (): JsonObject => applyStrategicMergePatch(original, patch, SCHEMA);
    expect(apply).toThrow(message);
    expect(apply).toThrow(ApiStatusError);
  });

  const name = fc.constantFrom('a', 'b', 'c', 'd');
  const element = fc.record({ name, image: fc.nat(2) }, { requiredKeys: ['name'] });
  const elements = fc.uniqueArray(element, { selector: (one) => one.name });
  const objects = fc.record(
    {
      labels: fc.dictionary(name, fc.nat(2).map(String)),
      finalizers: fc.uniqueArray(name),
      containers: elements,
      tolerations: fc.array(fc.nat(3)),
    },
    { requiredKeys: [] },
  );

  it('changes nothing the second time, and holds all that the patch says', () => {
    fc.assert(
      fc.property(objects, objects, (original, patch) => {
        const before = clone(original);
        const once = applyStrategicMergePatch(original, patch, SCHEMA);
        expect(original).toEqual(before);
        expect(applyStrategicMergePatch(once, patch, SCHEMA)).toEqual(once);
        expect(once).toMatchObject(unmerged(patch));
        const names = (list: unknown): string[] =>
          ((list ?? []) as { name: string }[]).map((one) => one.name);
        const expected = new Set([...names(original.containers), ...names(patch.containers)]);
        expect(new Set(names(once['containers']))).toEqual(expected);
      }),
    );
  });

  it('answers any patch with a result or a refusal', () => {
    const directive = fc.constantFrom('$patch', '$retainKeys', '$setElementOrder/containers');
    const key = fc.oneof(name, directive, fc.constantFrom('containers', 'finalizers', 'labels'));
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>('delete', 'replace', null, 1, 'a'),
        fc.array(tie('json'), { maxLength: 3 }),
        fc.dictionary(key, tie('json'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(objects, fc.dictionary(key, json), (original, patch) => {
        try {
          const result = applyStrategicMergePatch(original, patch, SCHEMA);
          expect(JSON.stringify(result)).not.toMatch(/"\$(patch|retainKeys|setElementOrder)/);
        } catch (error) {
          if (!(error instanceof ApiStatusError)) throw error;
        }
      }),
      { numRuns: 500 },
    );
  });
});

/** The parts of a patch that must appear unchanged in the result. */
function unmerged(patch: JsonObject): JsonObject {
  const parts = ['labels', 'tolerations'];
  return Object.fromEntries(Object.entries(patch).filter(([key]) => parts.includes(key)));
}
