/**
 * All Jobs that come later get the mode of the first ones, so it is recorded with the first status.
 * Where it is what a JobSet without a record has, that is no reason for a write of its own.
 */
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';
import type { Next } from '../merge.ts';
import { injectedMode } from './agent-mode.ts';

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
