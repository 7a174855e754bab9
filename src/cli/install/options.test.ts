import { expect, test } from 'vitest';
import { type InstallFlags, parseInstallFlags } from './options.ts';

test.each<[Partial<InstallFlags>, string]>([
  [{ namespace: 'A' }, '--namespace is "A"'],
  [{ webhooks: 'maybe' }, '--webhooks is "maybe", allowed are on, off'],
  [{ timeout: '0' }, '--timeout is "0", allowed are seconds from 1 to 3600'],
  [{ output: 'json' }, '--output is "json", allowed is yaml'],
  [{ watchNamespace: ['a', 'B'] }, '--watch-namespace is "B"'],
  [
    { watchNamespace: Array.from({ length: 65 }, (_, index) => `n${index}`) },
    '--watch-namespace names 65, allowed are 64',
  ],
  [{ agentImage: 'a b' }, '--agent-image is "a b"'],
])('a wrong flag is told: %j', (flags, expected) => {
  const parsed = parseInstallFlags({ namespace: 'n', ...flags }, '1');
  expect(parsed).toEqual({ errors: [expect.stringContaining(expected)] });
});
