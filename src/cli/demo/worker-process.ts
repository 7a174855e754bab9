/** Finds a worker of the demo among the processes of this machine. */
import { readdirSync, readFileSync } from 'node:fs';

/**
 * `pid` is the number of the process within its container, `<Pod UID>/<name>`. In a pid namespace,
 * the machine's number differs. Undefined if there is no such process.
 */
export function machineProcess(pid: number, container: string): number | undefined {
  const names = processNames();
  // Not Linux: there are no namespaces, and environments cannot be read.
  if (names === undefined) return pid;
  return names.map(Number).find((each) => isProcess(each, pid, container));
}

function processNames(): readonly string[] | undefined {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return undefined;
  }
}

function isProcess(each: number, pid: number, container: string): boolean {
  try {
    const numbers = /^NSpid:(.*)$/m.exec(readFileSync(`/proc/${each}/status`, 'utf8'))?.[1] ?? '';
    if (Number(numbers.trim().split(/\s+/).at(-1)) !== pid) return false;
    return readFileSync(`/proc/${each}/environ`, 'latin1')
      .split('\0')
      .some((entry) => entry.startsWith(`LOCKSTEP_CONTAINER=${container}/`));
  } catch {
    // It ended meanwhile, or belongs to another user.
    return false;
  }
}
