/**
 * The lower bound for every controller. The agents and connections are the real benchmark's, but
 * the benchmark itself takes the operator's place, and agents report to it directly. It ends the
 * epoch when the failed agent's announcement is stored, and releases the next when the last one is.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { JOBSETS, type JobSet } from '../jobset/jobset.ts';
import type { JobSetStatus } from '../jobset/jobset-status.ts';
import type { AgentFleet } from './agent-fleet.ts';

/** Writes two statuses for the end of `epoch`, and returns the newest JobSet. `jobSet` is the one before. */
export async function restartFloor(
  client: Client,
  fleet: AgentFleet,
  jobSet: Stored<JobSet>,
  epoch: number,
): Promise<Stored<JobSet>> {
  const write = (of: Stored<JobSet>, change: JobSetStatus): Promise<Stored<JobSet>> => {
    const next = { ...of, status: { ...of.status, ...change } };
    return client.update(JOBSETS, next, { subresource: 'status' });
  };
  const syncedEpoch = epoch + 1;
  await fleet.told(syncedEpoch);
  const ended = await write(jobSet, { deprecatedEpoch: epoch });
  await fleet.all('announced', syncedEpoch);
  const { replicatedJobsStatus = [] } = ended.status ?? {};
  const counted = replicatedJobsStatus.map((each) => ({ ...each, syncedEpoch }));
  return write(ended, { syncedEpoch, replicatedJobsStatus: counted });
}
