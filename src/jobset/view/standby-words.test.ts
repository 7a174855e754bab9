import { expect, test } from 'vitest';
import type { Progress, StandbyDeaths } from '../progress/progress.ts';
import { standbyDeathsInWords, standbyInWords } from './standby-words.ts';

test.each<[StandbyDeaths, string]>([
  [{ count: 1, last: { exitCode: 1 } }, 'died once since the release: exited with code 1'],
  [
    { count: 4, last: { exitCode: 137 } },
    'died 4 times since the release, last: exited with code 137',
  ],
  [
    { count: 1234, last: { signal: 'SIGSEGV' } },
    'died 1,234 times since the release, last: was killed by SIGSEGV',
  ],
  [{ count: 2, last: 'NotReady' }, 'died 2 times since the release, last: was not ready in time'],
  [{ count: 2 }, 'died 2 times since the release'],
])('%j are reported as: %s', (standbyDeaths, words) => {
  expect(standbyDeathsInWords({ standbyDeaths })).toBe(words);
  expect(standbyInWords({ standbyDeaths })).toBe(words);
});

test.each<[Pick<Progress, 'standby' | 'standbyDeaths'>, string | undefined]>([
  [{}, undefined],
  [{ standby: 'Ready' }, 'ready'],
  [{ standby: 'Ready', standbyDeaths: { count: 2 } }, 'ready; died 2 times since the release'],
  [{ standby: 'Exited' }, 'none any more: a standby exited with 0'],
])('%j is reported as: %s', (told, words) => {
  expect(standbyInWords(told)).toBe(words);
});

test('deaths are not reported beside the reason why there are none any more', () => {
  const told = { standby: 'OutOfMemory', standbyDeaths: { count: 2 } } as const;
  expect(standbyDeathsInWords(told)).toBeUndefined();
  expect(standbyInWords(told)).toBe(
    'none any more: memory ran out beside a standby, or its agent was killed',
  );
});
