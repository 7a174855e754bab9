import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { LAST_VERSION } from './last-version.ts';

it('the version to upgrade from is the newest one with a date in the changelog', () => {
  const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  const [, newest] = /^## ([0-9.]+) - [0-9]{4}-[0-9]{2}-[0-9]{2}$/m.exec(changelog) ?? [];
  expect(LAST_VERSION).toBe(newest);
});
