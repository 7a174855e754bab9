/**
 * Lives of Jobs, one for each decision of a Job controller. `record-jobs.ts` plays them with the
 * real controller, `job-controller.test.ts` with ours.
 */
import { FAILURE_SCENARIOS } from './job-failure-scenarios.ts';
import { LIFE_SCENARIOS } from './job-life-scenarios.ts';
import { LIMIT_SCENARIOS } from './job-limit-scenarios.ts';
import type { JobScenario } from './job-play.ts';

export const JOB_SCENARIOS: readonly JobScenario[] = [
  ...LIFE_SCENARIOS,
  ...FAILURE_SCENARIOS,
  ...LIMIT_SCENARIOS,
];
