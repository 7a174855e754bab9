import { readFileSync } from 'node:fs';

export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** With the number of the process it names one of all that ever ran. */
  readonly startTime: string;
}

/** A zombie has ended: only its parent has not noticed. */
const ENDED = 'Z';

/**
 * `/proc/PID/stat` of Linux: number, name in parentheses, state, parent, group, session, ... Undefined
 * for a process that has ended, and where the system does not show processes.
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
