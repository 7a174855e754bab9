import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GENERATED_DIRECTORIES, generatedFiles } from './manifest.ts';

const ROOT = join(import.meta.dirname, '..');
const FILES = generatedFiles();

test.each([...FILES])('%s is what `npm run manifest` writes', (path, text) => {
  expect(readFileSync(join(ROOT, path), 'utf8')).toBe(text);
});

test('deploy/ holds nothing else that is generated', () => {
  const own = readdirSync(join(ROOT, 'deploy'))
    .filter((name) => /\.(yaml|json)$/.test(name))
    .map((name) => `deploy/${name}`);
  const below = GENERATED_DIRECTORIES.flatMap((directory) =>
    readdirSync(join(ROOT, directory), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1)),
  );
  const expected = [...FILES.keys()].filter((path) => path.startsWith('deploy/'));
  expect([...own, ...below].toSorted()).toEqual(expected.toSorted());
});
