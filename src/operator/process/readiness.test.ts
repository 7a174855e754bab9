import { expect, test } from 'vitest';
import { type OperatorProgress, readinessChecks } from './readiness.ts';

const WITH_ALL = { hasWebhooks: true };
const FILLED = { caches: { hasSynced: () => true } };

/** Names of the checks that fail. */
function failing(progress: Partial<OperatorProgress>, flags = WITH_ALL): readonly string[] {
  const checks = readinessChecks(flags, { api: 'unknown', ...progress });
  return checks.filter((check) => check.problem() !== undefined).map(({ name }) => name);
}

const SERVED = { api: 'served', webhooks: { problem: () => undefined } } as const;

test.each<[string, Partial<OperatorProgress>, readonly string[]]>([
  ['nothing runs yet', {}, ['jobset-api', 'informer-sync', 'webhooks']],
  [
    'there are no JobSets',
    { ...SERVED, ...FILLED, api: { problem: 'no such API' } },
    ['jobset-api'],
  ],
  ['the caches are being filled', SERVED, ['informer-sync']],
  ['a replica leads, or could', { ...SERVED, ...FILLED }, []],
  ['a replica is about to restart', { ...SERVED, ...FILLED, leaves: true }, ['staying']],
  [
    'webhooks do not answer',
    { ...SERVED, ...FILLED, webhooks: { problem: () => 'no' } },
    ['webhooks'],
  ],
])('readiness when %s', (_, progress, expected) => {
  expect(failing(progress)).toEqual(expected);
});

test('webhooks count only if there are some', () => {
  expect(failing({ api: 'served', ...FILLED }, { hasWebhooks: false })).toEqual([]);
});
