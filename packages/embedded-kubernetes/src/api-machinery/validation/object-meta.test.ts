import { formatFieldError } from '@lockstep/kube/field-error.ts';
import type { ObjectMeta } from '@lockstep/kube/meta.ts';
import { dns1123SubdomainErrors } from '@lockstep/kube/name-rules.ts';
import { expect, test } from 'vitest';
import { objectMetaErrors, objectMetaUpdateErrors } from './object-meta.ts';

const RULES = { namespaced: true, nameRule: dns1123SubdomainErrors, qualifiedFinalizers: true };
const META: ObjectMeta = { name: 'a', namespace: 'default', uid: 'u' };
const OWNER = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '1' };

function fieldsOf(meta: ObjectMeta, rules = RULES): string[] {
  return objectMetaErrors(meta, rules).map((error) => error.field);
}

test.each<[name: string, meta: ObjectMeta, fields: string[]]>([
  ['nothing wrong', META, []],
  ['no name', { namespace: 'default' }, ['metadata.name']],
  ['a bad name', { ...META, name: 'A_' }, ['metadata.name']],
  ['a name to be completed after a dash', { ...META, generateName: 'a-' }, []],
  ['a bad start of a name', { ...META, generateName: 'AB-' }, ['metadata.generateName']],
  ['no namespace', { name: 'a' }, ['metadata.namespace']],
  ['a bad label key', { ...META, labels: { 'a b': 'c' } }, ['metadata.labels']],
  ['a bad label value', { ...META, labels: { a: 'b c' } }, ['metadata.labels']],
  [
    'an annotation key in mixed case',
    { ...META, annotations: { 'Example.com/A': 'any thing' } },
    [],
  ],
  [
    'more annotations than fit',
    { ...META, annotations: { a: 'x'.repeat(262_144) } },
    ['metadata.annotations'],
  ],
  [
    'an owner without a UID',
    { ...META, ownerReferences: [{ ...OWNER, uid: '' }] },
    ['metadata.ownerReferences.uid'],
  ],
  [
    'two controllers',
    {
      ...META,
      ownerReferences: [
        { ...OWNER, controller: true },
        { ...OWNER, uid: '2', controller: true },
      ],
    },
    ['metadata.ownerReferences'],
  ],
  ['a finalizer without a domain', { ...META, finalizers: ['mine'] }, ['metadata.finalizers[0]']],
  [
    'finalizers that contradict each other',
    { ...META, finalizers: ['orphan', 'foregroundDeletion'] },
    ['metadata.finalizers'],
  ],
])('metadata with %s', (_name, meta, fields) => expect(fieldsOf(meta)).toEqual(fields));

test('what belongs to the whole cluster has no namespace', () => {
  expect(fieldsOf(META, { ...RULES, namespaced: false })).toEqual(['metadata.namespace']);
});

test.each<[name: string, meta: ObjectMeta, before: ObjectMeta, problems: string[]]>([
  [
    'keeps its identity',
    { ...META, uid: 'v' },
    META,
    ['metadata.uid: Invalid value: "v": field is immutable'],
  ],
  [
    'keeps its name',
    { ...META, name: 'b' },
    META,
    ['metadata.name: Invalid value: "b": field is immutable'],
  ],
  ['changes labels freely', { ...META, labels: { a: 'b' } }, META, []],
  [
    'gets no finalizer while it goes',
    { ...META, deletionTimestamp: 't', finalizers: ['a/b', 'a/c'] },
    { ...META, deletionTimestamp: 't', finalizers: ['a/b'] },
    [
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a/c"}',
    ],
  ],
])('an object %s', (_name, meta, before, expected) => {
  expect(objectMetaUpdateErrors(meta, before, RULES).map(formatFieldError)).toEqual(expected);
});
