import { nodeClock } from '../runtime/adapters/node-clock.ts';
import { type ProcessStat, processStat } from './process-stat.ts';

/** Between this process and the shell that ran npx are another shell, and npm. */
const WATCHED_ANCESTORS = 3;
const INTERVAL_MS = 1_000;

/**
 * Calls `onGone` when the shell is gone that ran npx or npm, or what is between it and us: npm hands
 * signals on to its own shell, which keeps them to itself, so that we would run on unseen. A process
 * that was started in a session of its own, as by `setsid`, is meant to stay. Returns how to end it.
 */
export function watchShell(onGone: () => void): () => void {
  if (process.env['npm_command'] === undefined) return () => undefined;
  const ancestors = ancestorsOf(process.pid).slice(0, WATCHED_ANCESTORS);
  let timer: { cancel(): void } | undefined;
  const look = (): void => {
    if (ancestors.every(({ pid, startTime }) => processStat(pid)?.startTime === startTime)) {
      timer = nodeClock.setTimer(INTERVAL_MS, look);
    } else onGone();
  };
  if (ancestors.length > 0) timer = nodeClock.setTimer(INTERVAL_MS, look);
  return () => timer?.cancel();
}

/** Those of the same session, the nearest first; none where the system does not show processes. */
function ancestorsOf(pid: number): readonly ProcessStat[] {
  const own = processStat(pid);
  if (own === undefined) return [];
  const parent = processStat(own.parent);
  if (parent === undefined || parent.session !== own.session) return [];
  return [parent, ...ancestorsOf(parent.pid)];
}
