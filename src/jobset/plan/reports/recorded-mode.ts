/**
 * Records the mode of a JobSet's agents with its first status, because all later Jobs get the mode of
 * the first ones. It makes no write for the mode that a JobSet without a record has anyway.
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
