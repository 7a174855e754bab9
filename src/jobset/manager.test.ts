import { domainPrefixedPathErrors } from '@lockstep/kube/domain-prefixed-path.ts';
import { expect, test } from 'vitest';
import { isManagedByUs } from './manager.ts';
import { MANAGED_BY_JOBSET, MANAGED_BY_LOCKSTEP } from './names.ts';

test.each<[string, string | undefined, { everywhere: boolean; onlyManaged: boolean }]>([
  ['nobody', undefined, { everywhere: true, onlyManaged: false }],
  ['the controller that we replace', MANAGED_BY_JOBSET, { everywhere: true, onlyManaged: false }],
  ['us', MANAGED_BY_LOCKSTEP, { everywhere: true, onlyManaged: true }],
  ['a queue', 'kueue.x-k8s.io/multikueue', { everywhere: false, onlyManaged: false }],
  ['no name at all', '', { everywhere: false, onlyManaged: false }],
])('a JobSet that names %s', (_, managedBy, { everywhere, onlyManaged }) => {
  const spec = managedBy === undefined ? {} : { managedBy };
  expect(isManagedByUs(spec)).toBe(everywhere);
  expect(isManagedByUs(spec, { onlyManaged: false })).toBe(everywhere);
  expect(isManagedByUs(spec, { onlyManaged: true })).toBe(onlyManaged);
});

test('a JobSet without a spec names nobody', () => {
  expect(isManagedByUs(undefined)).toBe(true);
  expect(isManagedByUs(undefined, { onlyManaged: true })).toBe(false);
});

test('our name is one that every definition of JobSet accepts', () => {
  expect(domainPrefixedPathErrors(MANAGED_BY_LOCKSTEP, 'spec.managedBy')).toEqual([]);
  expect(MANAGED_BY_LOCKSTEP.length).toBeLessThanOrEqual(63);
});
