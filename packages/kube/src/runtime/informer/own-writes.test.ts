import { expect, test } from 'vitest';
import type { KubeObject, Stored } from '../../meta.ts';
import type { Store } from './informer.ts';
import { OwnWrites } from './own-writes.ts';

function objectAt(resourceVersion: string): Stored<KubeObject> {
  const creationTimestamp = '2026-01-01T00:00:00Z';
  const metadata = { name: 'a', namespace: 'default', uid: 'uid-of-a', creationTimestamp };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, resourceVersion } };
}

function storeAt(version: { current: string }): Store<KubeObject> {
  return {
    get: () => undefined,
    values: () => [],
    size: 0,
    byIndex: () => [],
    get resourceVersion() {
      return version.current;
    },
  };
}

test('a written object is seen until the cache holds that version or a newer one', () => {
  const own = new OwnWrites(storeAt({ current: '9' }));
  own.note(objectAt('10'));
  expect(own.newest(objectAt('9')).metadata.resourceVersion).toBe('10');
  expect(own.newest(objectAt('11')).metadata.resourceVersion).toBe('11');
  expect(own.newest(objectAt('9')).metadata.resourceVersion, 'only forgotten when asked').toBe(
    '10',
  );
});

test('an older answer that arrives late changes nothing', () => {
  const own = new OwnWrites(storeAt({ current: '1' }));
  own.note(objectAt('10'));
  own.note(objectAt('8'));
  expect(own.newest(objectAt('7')).metadata.resourceVersion).toBe('10');
});

test('a created object is there until the cache has passed its version', () => {
  const version = { current: '9' };
  const own = new OwnWrites(storeAt(version));
  own.note(objectAt('10'));
  const missing = (): number => [...own.missing(new Set(), () => true)].length;
  expect(missing()).toBe(1);
  expect([...own.missing(new Set(), () => false)]).toEqual([]);
  expect([...own.missing(new Set(['uid-of-a']), () => true)]).toEqual([]);
  version.current = '10';
  expect(missing(), 'it came and went').toBe(0);
  own.forgetShown();
  version.current = '9';
  expect(missing(), 'and is forgotten').toBe(0);
});

test('where versions have no order the cache is believed', () => {
  const own = new OwnWrites(storeAt({ current: 'x' }));
  own.note(objectAt('b'));
  expect(own.newest(objectAt('a')).metadata.resourceVersion).toBe('a');
});
