/**
 * The priority of a worker's processes. A process may lower the priority of any process of its user.
 * To raise it again takes the capability `SYS_NICE` or a resource limit, which most containers lack.
 */
import { readFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import type { Priorities } from '../worker/standby-keeper.ts';
import { threadIds } from './proc-looks.ts';

/** The number of the capability in the masks of `/proc/PID/status`. */
const CAP_SYS_NICE = 23n;
/** In a user namespace of its own, a process has the capability, but not for priorities. */
const ALL_USERS = /^\s*0\s+0\s+4294967295\s*$/;
/** The limit on `nice` counts from 1 for nice 19 to 40 for nice -20. */
const LIMIT_OF_NICE_0 = 20;

/** `proc`: the kernel's files about this process. */
export function createProcessPriorities(proc = '/proc/self'): Priorities {
  const own = getPriority();
  let mayRestore = mayRaise(own, proc);
  return {
    lower(pid) {
      if (!mayRestore) return false;
      return hasSet(pid, constants.priority.PRIORITY_LOW);
    },
    // Linux has a priority for each thread.
    restore(pid) {
      const isRestored = threadIds(pid)?.every((thread) => hasSet(thread, own)) === true;
      // After a failure, the next standby keeps its priority, and can be promoted.
      mayRestore &&= isRestored;
      return isRestored;
    },
  };
}

function mayRaise(priority: number, proc: string): boolean {
  const mask = /^CapEff:\s*([0-9a-f]+)$/m.exec(textOf(`${proc}/status`))?.[1];
  const hasCapability = mask !== undefined && ((BigInt(`0x${mask}`) >> CAP_SYS_NICE) & 1n) === 1n;
  if (hasCapability && ALL_USERS.test(textOf(`${proc}/uid_map`))) return true;
  const limit = /^Max nice priority\s+(\S+)/m.exec(textOf(`${proc}/limits`))?.[1];
  return limit === 'unlimited' || Number(limit ?? 0) >= LIMIT_OF_NICE_0 - priority;
}

/** True also for a thread that is gone. */
function hasSet(thread: number, priority: number): boolean {
  try {
    setPriority(thread, priority);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'info' in error ? error.info : undefined;
    return (code as { code?: string } | undefined)?.code === 'ESRCH';
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
