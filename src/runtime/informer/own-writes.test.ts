import { expect, test } from 'vitest';
import { storedJob } from '../../../test/fixtures/jobset-objects.ts';
import type { Stored } from '../../kube/meta.ts';
import type { Job } from '../../kube/objects/job.ts';
import type { Store } from './informer.ts';
import { OwnWrites } from './own-writes.ts';

function jobAt(resourceVersion: string): Stored<Job> {
  return storedJob('train-w-0', 'w', { metadata: { resourceVersion } });
}

function storeAt(version: { current: string }): Store<Job> {
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
  own.note(jobAt('10'));
  expect(own.newest(jobAt('9')).metadata.resourceVersion).toBe('10');
  expect(own.newest(jobAt('11')).metadata.resourceVersion).toBe('11');
  expect(own.newest(jobAt('9')).metadata.resourceVersion, 'forgotten by then').toBe('9');
});

test('an older answer that arrives late changes nothing', () => {
  const own = new OwnWrites(storeAt({ current: '1' }));
  own.note(jobAt('10'));
  own.note(jobAt('8'));
  expect(own.newest(jobAt('7')).metadata.resourceVersion).toBe('10');
});

test('a created object is there until the cache has passed its version', () => {
  const version = { current: '9' };
  const own = new OwnWrites(storeAt(version));
  own.note(jobAt('10'));
  const missing = (): number => [...own.missing(new Set(), () => true)].length;
  expect(missing()).toBe(1);
  expect([...own.missing(new Set(), () => false)]).toEqual([]);
  expect([...own.missing(new Set(['uid-of-train-w-0']), () => true)]).toEqual([]);
  version.current = '10';
  expect(missing(), 'it came and went').toBe(0);
});

test('where versions have no order the cache is believed', () => {
  const own = new OwnWrites(storeAt({ current: 'x' }));
  own.note(jobAt('b'));
  expect(own.newest(jobAt('a')).metadata.resourceVersion).toBe('a');
});
