/**
 * Records the mode of a JobSet's agents in its status. All later Jobs get the mode of the first
 * ones, so it is recorded with the first status. If it equals the mode of a JobSet without a
 * record, it is not worth a write of its own.
 */

import { injectedMode } from '../../injection/agent-mode.ts';
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';
import type { Next } from '../merge.ts';

export function recordMode(
  { jobSet, spec }: Facts,
  { status: { restarts, restartMode: recorded }, isChanged }: Next,
): Decision {
  const restartMode = injectedMode(spec, jobSet.metadata.annotations);
  const isIdle = restarts === undefined || (recorded === undefined && !isChanged);
  return isIdle || restartMode === undefined || restartMode === recorded
    ? {}
    : { status: { restartMode } };
}
