/** Reads the state of a process from `/proc`. */
import { readFileSync } from 'node:fs';

export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** Together with the process ID it is unique among all processes that ever ran. */
  readonly startTime: string;
}

/** A zombie has ended: only its parent has not noticed. */
const ENDED = 'Z';

/**
 * `/proc/PID/stat` of Linux: number, name in parentheses, state, parent, group, session, ...
 * Undefined for a process that has ended, and on systems without `/proc`.
 */
export function processStat(pid: number): ProcessStat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent, , session] = fields;
  const startTime = fields[19];
  if (state === ENDED || startTime === undefined) return undefined;
  return { pid, parent: Number(parent), session: Number(session), startTime };
}
