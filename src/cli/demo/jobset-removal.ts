/**
 * Removes a JobSet with its Jobs and their Pods from a cluster that outlives us, while this machine
 * can still end them. The garbage collector would too, but if the definition of JobSet is new, it
 * may not know JobSets for a minute.
 */

import { JOBS } from '@lockstep/kube/objects/job.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { DeadlineError } from '@lockstep/kube/runtime/deadline.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import { JOBSET_NAME } from '../../jobset/names.ts';

/** For workers to end and everything to go; the user should not wait for long. */
const REMOVAL_TIMEOUT_MS = 3_000;
/** A controller that has not noticed the end yet makes its objects once more. */
const MAX_PASSES = 3;

const BACKGROUND = { propagationPolicy: 'Background' } as const;

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
}

/** Resolves when everything is gone, or will go by itself later. */
export async function removeJobSet(
  client: Client,
  jobSet: { readonly namespace: string; readonly name: string },
  { clock, random }: Ports,
): Promise<void> {
  const deadline = clock.monotonic() + REMOVAL_TIMEOUT_MS;
  await unlessGone(client.delete(JOBSETS, jobSet, BACKGROUND));
  const list = { namespace: jobSet.namespace, labelSelector: `${JOBSET_NAME}=${jobSet.name}` };
  const remove = async (of: Resource): Promise<number> => {
    const { items } = await client.list(of, list);
    const wait = { clock, random, timeoutMs: Math.max(0, deadline - clock.monotonic()) };
    await Promise.all(
      items.map(async ({ metadata: { name } }) => {
        const key = { namespace: jobSet.namespace, name };
        await unlessGone(client.delete(of, key, BACKGROUND));
        await waitFor(client, of, key, (one) => one === undefined, wait).catch(unlessLate);
      }),
    );
    return items.length;
  };
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const found = (await remove(JOBS)) + (await remove(PODS));
    if (found === 0 || clock.monotonic() >= deadline) return;
  }
}

function unlessLate(error: unknown): void {
  if (!(error instanceof DeadlineError)) throw error;
}
