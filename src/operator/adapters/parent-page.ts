/**
 * Shows metrics to the process that started this one, over the channel between the two. Unlike a
 * port, no other user of the machine can open it.
 */
import type { Metrics } from '@lockstep/kube/runtime/metrics.ts';

export interface PageQuestion {
  readonly id: number;
}

export type PageReply = { readonly id: number } & (
  | { readonly page: string }
  | { readonly problem: string }
);

/**
 * Does nothing in a process that was started without a channel. `onParentEnd` is called when the
 * parent ends: its cluster is gone, and no other process may know of this one.
 */
export function showMetricsToParent(metrics: Metrics, onParentEnd: () => void): void {
  if (process.send === undefined) return;
  process.once('disconnect', onParentEnd);
  process.on('message', ({ id }: PageQuestion) => {
    // If the parent is gone, nobody waits for the answer.
    const reply = (message: PageReply): void =>
      void process.send?.(message, undefined, undefined, () => undefined);
    pageOf(metrics).then(
      (page) => reply({ id, page }),
      (error: unknown) => reply({ id, problem: String(error) }),
    );
  });
}

async function pageOf(metrics: Metrics): Promise<string> {
  const { signal } = new AbortController();
  const request = { method: 'GET', path: '/metrics', headers: {}, signal } as const;
  const { body } = await metrics.handler(request);
  return body instanceof Uint8Array ? Buffer.from(body).toString() : '';
}
