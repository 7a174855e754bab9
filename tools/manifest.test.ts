import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEPLOY_DIRECTORY, deployFiles } from './manifest.ts';

test.each([...deployFiles()])('deploy/%s is what `npm run manifest` writes', (name, text) => {
  expect(readFileSync(join(DEPLOY_DIRECTORY, name), 'utf8')).toBe(text);
});

test('deploy/ holds nothing else that is generated', () => {
  const files = readdirSync(DEPLOY_DIRECTORY).filter((name) => /\.(yaml|json)$/.test(name));
  expect(files.toSorted()).toEqual([...deployFiles().keys()].toSorted());
});
