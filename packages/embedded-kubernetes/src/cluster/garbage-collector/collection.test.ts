import type { OwnerReference } from '@lockstep/kube/meta.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { expect, test } from 'vitest';
import { type OwnerState, planCollection } from './collection.ts';
import type { GraphObject } from './owner-graph.ts';

const NOW = '2026-01-01T00:00:00Z';

function ownerOf(uid: string, isBlocking = true): OwnerReference {
  return { apiVersion: 'v1', kind: 'Job', name: uid, uid, blockOwnerDeletion: isBlocking };
}

function objectOf(metadata: Partial<GraphObject['metadata']>): GraphObject {
  const identity = { name: 'x', uid: 'x', resourceVersion: '1', creationTimestamp: NOW };
  return { resource: PODS, metadata: { ...identity, ...metadata } };
}

function plan(
  metadata: Partial<GraphObject['metadata']>,
  states: Readonly<Record<string, OwnerState>> = {},
  dependents: readonly GraphObject[] = [],
) {
  return planCollection(objectOf(metadata), dependents, ({ uid }) => states[uid] ?? 'unknown');
}

const owners = (...uids: string[]) => ({ ownerReferences: uids.map((uid) => ownerOf(uid)) });
const background = { action: 'delete', policy: 'Background', isCircular: false };

test.each([
  ['nobody', {}, { action: 'keep' }],
  ['a present owner', { a: 'present' }, { action: 'keep' }],
  ['an absent owner', { a: 'absent' }, background],
  ['two absent owners', { a: 'absent', b: 'absent' }, background],
  ['an owner that waits', { a: 'waiting' }, background],
  ['an owner that cannot be judged', { a: 'absent', b: 'unknown' }, { action: 'keep' }],
  [
    'one present and one absent owner',
    { a: 'present', b: 'absent' },
    { action: 'disown', owners: [ownerOf('b')] },
  ],
  [
    'one present owner and one that waits',
    { a: 'waiting', b: 'present' },
    { action: 'disown', owners: [ownerOf('a')] },
  ],
] as const)('an object with %s', (_, states, expected) => {
  expect(plan(owners(...Object.keys(states)), states)).toEqual(expected);
});

test('an object that is on its way already is not deleted again', () => {
  expect(plan({ ...owners('a'), deletionTimestamp: NOW }, { a: 'absent' })).toEqual({
    action: 'keep',
  });
});

test('below an owner that waits, an object with dependents is deleted in the foreground too', () => {
  const child = objectOf({ name: 'c', uid: 'c', ...owners('x') });
  expect(plan(owners('a'), { a: 'waiting' }, [child])).toMatchObject({ policy: 'Foreground' });
});

test('a circle of objects that wait for each other is opened', () => {
  const finalizers = ['foregroundDeletion'];
  const waiting = objectOf({ uid: 'a', ...owners('x'), deletionTimestamp: NOW, finalizers });
  expect(plan(owners('a'), { a: 'waiting' }, [waiting])).toMatchObject({ isCircular: true });
});

test('foreground deletion waits for dependents that block, and for no others', () => {
  const deleting = { deletionTimestamp: NOW, finalizers: ['foregroundDeletion'] };
  const blocking = objectOf({ uid: 'b', ownerReferences: [ownerOf('x')] });
  const free = objectOf({ uid: 'f', ownerReferences: [ownerOf('x', false)] });
  expect(plan(deleting, {}, [blocking, free])).toEqual({
    action: 'waitFor',
    dependents: [blocking],
  });
  expect(plan(deleting, {}, [free])).toEqual({
    action: 'finalize',
    finalizer: 'foregroundDeletion',
  });
});

test('an orphaning object frees its dependents, then goes', () => {
  const deleting = { deletionTimestamp: NOW, finalizers: ['orphan'] };
  const child = objectOf({ uid: 'c', ...owners('x') });
  expect(plan(deleting, {}, [child])).toEqual({ action: 'free', dependents: [child] });
  expect(plan(deleting)).toEqual({ action: 'finalize', finalizer: 'orphan' });
});

test('finalizers set in advance decide how an ownerless object goes', () => {
  const policyFor = (finalizer: string) =>
    plan({ ...owners('a'), finalizers: [finalizer] }, { a: 'absent' });
  expect(policyFor('orphan')).toMatchObject({ policy: 'Orphan' });
  expect(policyFor('foregroundDeletion')).toMatchObject({ policy: 'Foreground' });
});
