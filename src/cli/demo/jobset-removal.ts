/**
 * Takes a JobSet off a cluster that goes on without us, with its Jobs and their Pods, while this
 * machine can still end them. The garbage collector would too, but may need a minute until it knows
 * of JobSets where their definition was not there a moment ago.
 */
import { JOBSETS } from '../../jobset/jobset.ts';
import { JOBSET_NAME } from '../../jobset/names.ts';
import { JOBS } from '../../kube/objects/job.ts';
import { PODS } from '../../kube/objects/pod.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Client } from '../../runtime/client/client.ts';
import { DeadlineError } from '../../runtime/deadline.ts';
import { waitFor } from '../../runtime/informer/wait-for.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Random } from '../../runtime/ports/random.ts';
import { unlessGone } from '../install/removal.ts';

/** For workers to end and all to go; whoever asked for the end does not wait for ever. */
const REMOVAL_TIMEOUT_MS = 3_000;
/** A controller that has not heard of the end yet makes once more what it had made. */
const MAX_PASSES = 3;

const BACKGROUND = { propagationPolicy: 'Background' } as const;

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
}

/** Resolves when all is gone, or goes by itself though that takes longer than we wait. */
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
