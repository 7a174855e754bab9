import { expect, test } from 'vitest';
import { type OperatorProgress, readinessChecks } from './readiness.ts';

const WITH_ALL = { leaderElect: true, hasWebhooks: true };

/** Names of the checks that fail. */
function failing(progress: Partial<OperatorProgress>, flags = WITH_ALL): readonly string[] {
  const checks = readinessChecks(flags, { api: 'unknown', isLeading: false, ...progress });
  return checks.filter((check) => check.problem() !== undefined).map(({ name }) => name);
}

const SERVED = { api: 'served', webhooks: { problem: () => undefined } } as const;

test.each<[string, Partial<OperatorProgress>, readonly string[]]>([
  ['nothing runs yet', {}, ['jobset-api', 'webhooks']],
  ['there are no JobSets', { ...SERVED, api: { problem: 'no such API' } }, ['jobset-api']],
  ['a replica waits for the lease', SERVED, []],
  ['a leader fills its caches', { ...SERVED, isLeading: true }, ['informer-sync']],
  ['a leader works', { ...SERVED, isLeading: true, operator: { hasSynced: () => true } }, []],
  ['webhooks do not answer', { ...SERVED, webhooks: { problem: () => 'no' } }, ['webhooks']],
])('readiness when %s', (_, progress, expected) => {
  expect(failing(progress)).toEqual(expected);
});

test('without leader election every replica has to have its caches, and webhooks only if it has some', () => {
  const flags = { leaderElect: false, hasWebhooks: false };
  expect(failing({ api: 'served' }, flags)).toEqual(['informer-sync']);
});
