/** Confirms the deletion of a Pod: nothing of it runs, so the object may go. */
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { isReason } from '@lockstep/kube/status.ts';
import type { NodeContext } from '../ports/node-context.ts';

const DELETE_TIMEOUT_MS = 10_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 10_000;

/** Deletes the object with grace 0, and tries until it is gone, another, or `signal` aborts. */
export async function confirmDeletion(
  { client, clock, logger }: Pick<NodeContext, 'client' | 'clock' | 'logger'>,
  pod: Pod,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(2 * retryMs, LAST_RETRY_MS)) {
    try {
      await withDeadline(clock, DELETE_TIMEOUT_MS, signal, (limit) =>
        client.delete(
          PODS,
          { namespace, name },
          { gracePeriodSeconds: 0, preconditions: { uid }, signal: limit },
        ),
      );
      return;
    } catch (error) {
      // The precondition failed: a Pod of that name, but not this one.
      if (signal.aborted || isReason(error, 'NotFound', 'Conflict')) return;
      logger.debug('a Pod could not be deleted yet', { err: error });
    }
    try {
      await sleep(clock, retryMs, signal);
    } catch {
      // The node stops.
      return;
    }
  }
}
