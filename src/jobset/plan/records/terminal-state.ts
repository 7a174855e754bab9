/** The two ends of a JobSet. Both are final. */

import { cleared } from '../../status/conditions.ts';
import type { Decision } from '../decision.ts';

export function completed(): Decision {
  const message = 'jobset completed successfully';
  const reason = 'AllJobsCompleted';
  const done = { type: 'Completed', status: 'True', reason, message, event: 'Normal' } as const;
  return {
    status: { terminalState: 'Completed' },
    conditions: [
      done,
      ...RESTARTING.map((type) => cleared(type, 'JobSetCompleted', 'jobset completed')),
    ],
    outcomes: [{ kind: 'Completed' }],
  };
}

export function failed(reason: string, message: string): Decision {
  const over = { type: 'Failed', status: 'True', reason, message, event: 'Warning' } as const;
  return {
    status: { terminalState: 'Failed' },
    conditions: [over, ...RESTARTING.map((type) => cleared(type, 'JobSetFailed', 'jobset failed'))],
    outcomes: [{ kind: 'Failed' }],
  };
}

const RESTARTING = ['RestartingJobSet', 'RestartingInPlace', 'ReplacementPending'] as const;
