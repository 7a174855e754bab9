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

/** Writes two statuses for each epoch after `epoch`. `jobSet` must be the newest. */
export class Floor {
  readonly #client: Client;
  readonly #fleet: AgentFleet;
  #jobSet: Stored<JobSet>;

  constructor(client: Client, fleet: AgentFleet, jobSet: Stored<JobSet>) {
    this.#client = client;
    this.#fleet = fleet;
    this.#jobSet = jobSet;
  }

  async restart(epoch: number): Promise<void> {
    await this.#fleet.told(epoch + 1);
    await this.#write((status) => ({ ...status, deprecatedEpoch: epoch }));
    await this.#fleet.all('announced', epoch + 1);
    await this.#write((status) => ({
      ...status,
      syncedEpoch: epoch + 1,
      replicatedJobsStatus: (status.replicatedJobsStatus ?? []).map((each) => ({
        ...each,
        syncedEpoch: epoch + 1,
      })),
    }));
  }

  async #write(change: (status: JobSetStatus) => JobSetStatus): Promise<void> {
    const next = { ...this.#jobSet, status: change(this.#jobSet.status ?? {}) };
    this.#jobSet = await this.#client.update(JOBSETS, next, { subresource: 'status' });
  }
}
