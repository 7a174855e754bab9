/** The group of most tests of restarts in place: three supervised workers, three restarts. */
import { RESTART_MODE } from '../../src/jobset/names.ts';
import { replicatedJob } from '../fixtures/jobset-objects.ts';
import { type StartMember, TrainingGroup } from './training-group.fixture.ts';

export const WORKERS = 3;
export const THREE_WORKERS = {
  replicatedJobs: [replicatedJob('w', WORKERS)],
  failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 3 },
} as const;
export const SUPERVISOR = { [RESTART_MODE]: 'Supervisor' };

/**
 * Long enough for everything that is delayed, such as a write of counters, and for late answers.
 */
export const CALM_MS = 10_000;

/** A cluster with the operator and no JobSet yet. The caller has to stop it. */
export async function startedGroup(member?: StartMember): Promise<TrainingGroup> {
  const group = new TrainingGroup(member);
  await group.start();
  return group;
}
