import { describe, expect, test } from 'vitest';
import { asked, storedJob } from '../../../test/fixtures/jobset-objects.ts';
import { classifyJobs } from '../child-jobs/child-jobs.ts';
import { withDefaults } from '../defaults.ts';
import { mayCreateJobs, restartsInPlace } from './restart-strategy.ts';

describe('restart strategy', () => {
  const strategy = (restartStrategy: 'Recreate' | 'BlockingRecreate' | 'InPlaceRestart') =>
    withDefaults({ failurePolicy: { restartStrategy } });
  const lingering = classifyJobs([storedJob('old', 'a', { attempt: -1 })], asked(0));

  test('only BlockingRecreate waits for all previous Jobs to be gone', () => {
    expect(mayCreateJobs(strategy('Recreate'), lingering)).toBe(true);
    expect(mayCreateJobs(strategy('InPlaceRestart'), lingering)).toBe(true);
    expect(mayCreateJobs(strategy('BlockingRecreate'), lingering)).toBe(false);
    expect(mayCreateJobs(strategy('BlockingRecreate'), classifyJobs([], asked(0)))).toBe(true);
  });

  test('restarts are in place until the annotation or a missing policy bypasses them', () => {
    expect(restartsInPlace(strategy('InPlaceRestart'), undefined)).toBe(true);
    expect(restartsInPlace(strategy('Recreate'), undefined)).toBe(false);
    expect(restartsInPlace(withDefaults({}), undefined)).toBe(false);
    const bypass = { 'jobset.sigs.k8s.io/disable-in-place-restart': '' };
    expect(restartsInPlace(strategy('InPlaceRestart'), bypass)).toBe(false);
  });
});
