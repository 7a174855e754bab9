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
  [{ maxStreams: '0' }, '--max-streams is "0": expected a whole number from 1 to 262144'],
  [
    { operatorMemory: '1Gi' },
    '--operator-memory is "1Gi", allowed is 2048Mi or more with 32768 streams',
  ],
  [{ operatorMemory: 'much', maxStreams: '1000' }, '--operator-memory is "much", allowed is 512Mi'],
  [{ agentImage: 'a b' }, '--agent-image is "a b"'],
  [{ operatorImage: 'a b' }, '--operator-image is "a b"'],
  [{ agentMode: 'Fast' }, '--agent-mode is "Fast": expected Auto, Sidecar or Supervisor'],
])('a wrong flag is told: %j', (flags, expected) => {
  const parsed = parseInstallFlags({ namespace: 'n', ...flags }, '1');
  expect(parsed).toEqual({ errors: [expect.stringContaining(expected)] });
});

test('the memory of the operator follows from how many agents it serves', () => {
  const settingsWith = (flags: Partial<InstallFlags>) => {
    const parsed = parseInstallFlags({ namespace: 'n', ...flags }, '1');
    return 'options' in parsed ? parsed.options.settings : undefined;
  };
  expect(settingsWith({})).toMatchObject({ configuration: {}, operatorMemory: '2048Mi' });
  expect(settingsWith({ maxStreams: '5000' })).toMatchObject({ operatorMemory: '768Mi' });
  expect(settingsWith({ maxStreams: '5000', operatorMemory: '1Gi' })).toMatchObject({
    configuration: { maxStreams: 5_000 },
    operatorMemory: '1Gi',
  });
});
