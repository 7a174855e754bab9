/** Notices the end of the shell that started the command. */
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { type ProcessStat, processStat } from '../process-stat.ts';

/** Between this process and the shell that ran npx are another shell, and npm. */
const WATCHED_ANCESTORS = 3;
const INTERVAL_MS = 1_000;

/**
 * Calls `onGone` when the shell that ran npx or npm is gone, or a process between it and us. npm
 * passes signals only to its own shell, which does not pass them on, so we would run on unseen. A
 * process that was started in a session of its own, as by `setsid`, is meant to stay. Returns a
 * function that ends the watch.
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

/** Ancestors in this session, the nearest first; none if the system does not show processes. */
function ancestorsOf(pid: number): readonly ProcessStat[] {
  const own = processStat(pid);
  if (own === undefined) return [];
  const parent = processStat(own.parent);
  if (parent === undefined || parent.session !== own.session) return [];
  return [parent, ...ancestorsOf(parent.pid)];
}
