/** Reads the cost of a process from the system. */
import { readFileSync, writeFileSync } from 'node:fs';

const CLOCK_TICKS_PER_SECOND = 100;
const KIB = 1024;

/**
 * CPU time so far and peak resident size of a process; zeros if the system does not report them.
 */
export function processCost(pid: number): { readonly cpuMs: number; readonly peakBytes: number } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return {
      cpuMs: (ticks * 1000) / CLOCK_TICKS_PER_SECOND,
      peakBytes: Number(peak?.[1] ?? 0) * KIB,
    };
  } catch {
    return { cpuMs: 0, peakBytes: 0 };
  }
}

/** Resets the peak, if the system allows it. */
export function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // The peak of the whole run is an upper bound for each part.
  }
}
