/** Finds a worker of the demo among the processes of this machine by the number that it knows itself by. */
import { readdirSync, readFileSync } from 'node:fs';

/**
 * `pid` is what a process of the container, `<Pod UID>/<name>`, calls itself: where that has a pid
 * namespace, the machine has another number for it. Undefined if no such process lives here.
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
    // It ended meanwhile, or is somebody else's.
    return false;
  }
}
