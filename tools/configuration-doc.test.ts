import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonSchema } from '../src/kube/schema/json-schema.ts';
import { CONFIGURATION_SCHEMA } from '../src/operator/configuration/configuration-schema.ts';

/** Paths of all keys that have no keys below them. */
function leaves(schema: JsonSchema, path = ''): readonly string[] {
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return [path];
  return fields.flatMap(([name, field]) => leaves(field, path === '' ? name : `${path}.${name}`));
}

test('docs/reference/configuration.md tells of every key, and of no other', () => {
  const page = readFileSync(
    join(import.meta.dirname, '../docs/reference/configuration.md'),
    'utf8',
  );
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const told = rows.flatMap((row) => row.split('|')[1]?.match(/`([^`]+)`/g) ?? []);
  const keys = leaves(CONFIGURATION_SCHEMA).filter((key) => !/^(apiVersion|kind)$/.test(key));
  expect(told.map((key) => key.replaceAll('`', '')).toSorted()).toEqual([...keys].toSorted());
});
