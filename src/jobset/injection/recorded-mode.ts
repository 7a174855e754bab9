import type { Planning } from '../planning.ts';
import { injectedMode } from './agent-mode.ts';

/**
 * All Jobs that come later get the mode of the first ones, so it is recorded with the first status.
 * Where it is what a JobSet without a record has, that is no reason for a write of its own.
 */
export function recordMode({ snapshot, spec, draft }: Planning): void {
  const restartMode = injectedMode(spec, snapshot.jobSet.metadata.annotations);
  const { restarts, restartMode: recorded } = draft.status;
  const isIdle = restarts === undefined || (recorded === undefined && !draft.isChanged);
  if (isIdle || restartMode === undefined || restartMode === recorded) return;
  draft.set({ restartMode });
}
