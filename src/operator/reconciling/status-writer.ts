/**
 * Writes the status of JobSets under the version on which a decision is based, and puts back fields
 * that other clients drop.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { isPassing } from '@lockstep/kube/runtime/client/passing-failures.ts';
import type { OwnWrites } from '@lockstep/kube/runtime/informer/own-writes.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import type { JobSetStatus } from '../../jobset/jobset-status.ts';
import { isManagedByUs } from '../../jobset/manager.ts';
import { asRecorded } from '../../jobset/overrides/recorded-annotations.ts';
import { droppedFields } from '../../jobset/status/stripped-status.ts';
import type { RosterFeed } from '../tracking/roster-feed.ts';
import type { StoredDefinition } from '../tracking/stored-definition.ts';
import type { JobSetMemory } from './jobset-memory.ts';
import type { Reports } from './reports.ts';

export interface StatusWriterOptions {
  readonly client: Client;
  readonly logger: Logger;
  readonly feed: RosterFeed;
  readonly definition: Pick<StoredDefinition, 'facts'>;
}

export class StatusWriter {
  readonly #options: StatusWriterOptions;
  readonly #ownJobSets: OwnWrites<JobSet>;
  readonly #reports: Reports;

  constructor(options: StatusWriterOptions, ownJobSets: OwnWrites<JobSet>, reports: Reports) {
    this.#options = options;
    this.#ownJobSets = ownJobSets;
    this.#reports = reports;
  }

  /** The JobSet with the fields of its status that a client has dropped. */
  async whole(
    jobSet: Stored<JobSet>,
    memory: JobSetMemory,
    signal: AbortSignal,
  ): Promise<Stored<JobSet>> {
    const { metadata, spec, status } = jobSet;
    if (metadata.deletionTimestamp !== undefined || !isManagedByUs(spec)) return jobSet;
    const restored = memory.status.restored(status, this.#options.definition.facts?.lacks);
    if (restored === undefined) return jobSet;
    try {
      const written = await this.write(jobSet, memory, restored.status, signal);
      this.#reports.statusRestored(jobSet, restored.fields);
      return written;
    } catch (error) {
      if (isPassing(error)) memory.status.notRestored();
      throw error;
    }
  }

  /** Writes, and returns when the plan has to write again because fields were not stored. */
  async writePlanned(
    jobSet: Stored<JobSet>,
    memory: JobSetMemory,
    status: JobSetStatus,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { definition, logger } = this.#options;
    const written = await this.write(jobSet, memory, status, signal);
    const fields = droppedFields(status, written.status, definition.facts?.lacks);
    // A definition that may not be read may keep them, which only a write shows.
    if (status.ranks !== undefined) memory.status.losesRanks = written.status?.ranks === undefined;
    const writeAgainMs = memory.status.stored(fields.length === 0 && !memory.status.losesRanks);
    if (writeAgainMs === undefined) return undefined;
    const { namespace, name } = jobSet.metadata;
    logger.warn(
      'the API server has not stored fields of the status that its definition has, or may have',
      {
        namespace,
        name,
        fields: memory.status.losesRanks ? [...new Set([...fields, 'ranks'])] : fields,
      },
    );
    return writeAgainMs;
  }

  async write(
    jobSet: Stored<JobSet>,
    memory: JobSetMemory,
    status: JobSetStatus,
    signal: AbortSignal,
  ): Promise<Stored<JobSet>> {
    const { client, feed } = this.#options;
    const next = { ...jobSet, status };
    try {
      const written = await client.update(JOBSETS, next, { subresource: 'status', signal });
      const read = asRecorded(written);
      this.#ownJobSets.note(read);
      memory.status.saw(read.status);
      feed.tell({ kind: 'JobSetSeen', jobSet: read, isOwn: true });
      return read;
    } catch (error) {
      if (isReason(error, 'Conflict')) await this.#readAgain(jobSet, signal);
      throw error;
    }
  }

  /** Reads the JobSet after a conflict, so that the retry need not wait for the cache. */
  async #readAgain({ metadata }: Stored<JobSet>, signal: AbortSignal): Promise<void> {
    const { name, namespace = '', uid } = metadata;
    try {
      const fresh = await this.#options.client.get(JOBSETS, { namespace, name }, { signal });
      if (fresh.metadata.uid === uid) this.#ownJobSets.note(asRecorded(fresh));
    } catch (error) {
      this.#options.logger.debug('reading again after a conflict failed', { err: error });
    }
  }
}
