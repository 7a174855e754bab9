/** Reads files of `/proc` that do not wait for the process, so the reads may be synchronous. */
import { readFileSync } from 'node:fs';

export interface Stat {
  readonly name: string;
  readonly state: string;
  readonly parent: number;
  readonly startTicks: string;
  readonly cpuMs: number;
  /** As `waitpid` has it; 0 also while it runs, and if we may not see it. */
  readonly waitStatus: number;
}

/** Linux counts CPU time for users in hundredths of a second on every machine. */
const TICK_MS = 10;

/** Reads the text of a `stat` file. The name is in parentheses and may hold anything, parentheses too. */
export function statOf(text: string): Stat | undefined {
  const [, name = '', rest = ''] = /^[^(]*\((.*)\) (.*)$/s.exec(text) ?? [];
  // The state is the third field, utime the 14th, stime the 15th, starttime the 22nd.
  const fields = rest.split(' ');
  const [state = '', startTicks = ''] = [fields[0], fields[19]];
  if (startTicks === '') return undefined;
  const cpuMs = TICK_MS * (Number(fields[11]) + Number(fields[12]));
  const [parent, waitStatus] = [Number(fields[1]), Number(fields[49] ?? 0)];
  return { name, state, parent, startTicks, cpuMs, waitStatus };
}

export function hasEnded({ state }: Stat): boolean {
  return state === 'Z' || state === 'X';
}

/** Undefined for a file that is gone, or that we may not read. */
export function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\n$/, '');
  } catch {
    return undefined;
  }
}
