import { expect, test } from 'vitest';
import { atomicList, defaulted, int32, map, nullable, object, string } from './builders.ts';
import { applyDefaults } from './defaults.ts';

const POLICY = defaulted(
  { mode: 'Fast' },
  object({ mode: string(), limit: defaulted(3, int32()) }),
);
const SCHEMA = object({
  replicas: defaulted(1, int32()),
  note: string(),
  maybe: nullable(defaulted('x', string())),
  policy: POLICY,
  ports: atomicList(object({ protocol: defaulted('TCP', string()) })),
  byName: map(POLICY),
});

test.each<[name: string, value: object, filled: object]>([
  [
    'absent fields are filled in, and what they hold too',
    {},
    { replicas: 1, maybe: 'x', policy: { mode: 'Fast', limit: 3 } },
  ],
  [
    'what is given stays',
    { replicas: 0, maybe: 'y', policy: {} },
    { replicas: 0, maybe: 'y', policy: { limit: 3 } },
  ],
  [
    'a null counts as absent',
    { replicas: null, note: null, policy: null },
    { replicas: 1, maybe: 'x', policy: { mode: 'Fast', limit: 3 } },
  ],
  [
    'a null that is allowed stays',
    { maybe: null },
    { replicas: 1, maybe: null, policy: { mode: 'Fast', limit: 3 } },
  ],
  [
    'items of lists are filled in',
    { ports: [{}, { protocol: 'UDP' }] },
    {
      replicas: 1,
      maybe: 'x',
      policy: { mode: 'Fast', limit: 3 },
      ports: [{ protocol: 'TCP' }, { protocol: 'UDP' }],
    },
  ],
  [
    'a null in a list without default stays in its place',
    { ports: [null] },
    { replicas: 1, maybe: 'x', policy: { mode: 'Fast', limit: 3 }, ports: [null] },
  ],
  [
    'values of maps are filled in',
    { byName: { a: null, b: {} } },
    {
      replicas: 1,
      maybe: 'x',
      policy: { mode: 'Fast', limit: 3 },
      byName: { a: { mode: 'Fast', limit: 3 }, b: { limit: 3 } },
    },
  ],
  [
    'values of another type are left to validation',
    { policy: 5, ports: 'x' },
    { replicas: 1, maybe: 'x', policy: 5, ports: 'x' },
  ],
])('%s', (_name, value, filled) => {
  const before = structuredClone(value);
  expect(applyDefaults(SCHEMA, value)).toEqual(filled);
  expect(value).toEqual(before);
});

test('a default given twice is never shared', () => {
  const first = applyDefaults(SCHEMA, {});
  const second = applyDefaults(SCHEMA, {});
  expect(first).toEqual(second);
  expect(Object.entries(first as object)[2]?.[1]).not.toBe(
    Object.entries(second as object)[2]?.[1],
  );
});

test('a complete value comes back as it is', () => {
  const value = { replicas: 2, maybe: 'y', policy: { mode: 'Slow', limit: 1 } };
  expect(applyDefaults(SCHEMA, value)).toBe(value);
});
