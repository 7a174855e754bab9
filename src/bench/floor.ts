/**
 * What no controller can be faster than: the same agents over the same connections, and in the
 * operator's place the benchmark, which is told by the agents themselves. It writes the end of the
 * epoch when the announcement of the failed agent is stored, and the release when the last one is.
 */
import { JOBSETS, type JobSet, type JobSetStatus } from '../jobset/jobset.ts';
import type { Stored } from '../kube/meta.ts';
import type { Client } from '../runtime/client/client.ts';
import type { AgentFleet } from './agent-fleet.ts';

/** Writes two statuses for each epoch that follows `epoch`. `jobSet` must be the newest. */
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
