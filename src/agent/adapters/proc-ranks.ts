/** Looks at single processes in `/proc`. */
import { readdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { constants } from 'node:os';
import { defined } from '@lockstep/kube/json/defined.ts';
import type { Exit } from '../../jobset/worker-end/worker-end.ts';
import type { RankLooks } from '../worker/rank-looks.ts';
import { hasEnded, statOf, textOf } from './proc-stat.ts';

/** Threads of a launcher that are asked for their children. */
const MAX_PARENT_THREADS = 64;
/** A variable behind this much of an environment is not found. */
const MAX_ENVIRONMENT_BYTES = 256 * 1024;

/** `proc`: by default `/proc`. */
export function createProcRanks(proc = '/proc'): RankLooks {
  return {
    state(pid) {
      const stat = statOf(textOf(`${proc}/${pid}/stat`) ?? '');
      if (stat === undefined) return undefined;
      const { parent, startTicks, waitStatus } = stat;
      const isOver = hasEnded(stat);
      const exit = isOver ? exitOf(waitStatus) : undefined;
      return { parent, startTicks, hasEnded: isOver, ...defined({ exit }) };
    },
    children(pid) {
      const tasks = `${proc}/${pid}/task`;
      try {
        return readdirSync(tasks)
          .slice(0, MAX_PARENT_THREADS)
          .flatMap((thread) => textOf(`${tasks}/${thread}/children`)?.trim().split(' ') ?? [])
          .filter((child) => child !== '').length;
      } catch {
        return 0;
      }
    },
    async hasVariable(pid, entry) {
      try {
        // To read it may wait for the process.
        const file = await open(`${proc}/${pid}/environ`);
        try {
          const buffer = Buffer.alloc(MAX_ENVIRONMENT_BYTES);
          let length = 0;
          for (;;) {
            const { bytesRead } = await file.read(buffer, length, buffer.length - length);
            length += bytesRead;
            if (bytesRead === 0) break;
          }
          return buffer.subarray(0, length).toString('latin1').split('\0').includes(entry);
        } finally {
          await file.close();
        }
      } catch {
        return false;
      }
    },
  };
}

function exitOf(waitStatus: number): Exit | undefined {
  const number = waitStatus & 0x7f;
  if (number === 0) return waitStatus === 0 ? undefined : { exitCode: waitStatus >> 8 };
  const name = Object.entries(constants.signals).find(([, each]) => each === number)?.[0];
  return name === undefined ? undefined : { signal: name };
}
