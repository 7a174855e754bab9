import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { jobSetReference, REFERENCE_FILE } from './jobset-reference.ts';

test('docs/reference/jobset.md is what `npx tsx tools/jobset-reference.ts` writes', () => {
  expect(readFileSync(REFERENCE_FILE, 'utf8')).toBe(jobSetReference());
});

test('the reference describes every field of the schema that is not Kubernetes’ own', () => {
  const rows = jobSetReference()
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  expect(rows.length).toBeGreaterThan(60);
  for (const line of rows) expect(line, line).toMatch(/ \S+.* \|$/);
  expect(rows.filter((line) => line.endsWith('|  |'))).toEqual([]);
});
