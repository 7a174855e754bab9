/** The metrics of the operator of a local cluster, asked over the channel to its process. */
import type { ChildProcess } from 'node:child_process';
import { unlessAborted } from '@lockstep/kube/runtime/deadline.ts';
import type { PageQuestion, PageReply } from '../../operator/adapters/parent-page.ts';

/** Questions that wait for an answer at a time: one page takes the operator up to 0.1 s. */
const MAX_WAITING = 8;
const NOT_RUNNING = 'the operator does not run';

/** Reads a page of metrics; rejects if the process ends or the signal aborts before it is there. */
export function metricsOf(child: ChildProcess): (signal: AbortSignal) => Promise<string> {
  const waiting = new Map<number, (reply: PageReply) => void>();
  let lastId = 0;
  child.on('message', (reply: PageReply) => waiting.get(reply.id)?.(reply));
  child.once('exit', () => {
    for (const [id, end] of waiting) end({ id, problem: NOT_RUNNING });
  });
  return async (signal) => {
    if (waiting.size >= MAX_WAITING) throw new Error(`${MAX_WAITING} readers wait already`);
    const id = ++lastId;
    try {
      const replied = new Promise<PageReply>((resolve) => waiting.set(id, resolve));
      child.send({ id } satisfies PageQuestion, (error) => {
        if (error !== null) waiting.get(id)?.({ id, problem: NOT_RUNNING });
      });
      const reply = await unlessAborted(replied, signal);
      if ('problem' in reply) throw new Error(reply.problem);
      return reply.page;
    } finally {
      waiting.delete(id);
    }
  };
}

/**
 * What is about JobSets and Lockstep. Families of every controller would clash with families of the
 * cluster on one page.
 */
export function ownFamilies(page: string): string {
  const families = page.split(/^(?=# HELP )/m);
  return families.filter((family) => /^# HELP (lockstep|jobset)_/.test(family)).join('');
}
