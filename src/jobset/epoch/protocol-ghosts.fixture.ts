/** Checks written statuses against the whole history of the protocol's model. */
import { expect } from 'vitest';
import type { JobSetStatus, RestartRecord } from '../jobset-status.ts';

/**
 * It knows what no participant may know: which epochs a failure may end, and which one it must end.
 * An epoch ends only for a failure in it, or for a change by the user, once; and no failure is
 * lost.
 */
export class ProtocolGhosts {
  readonly #mayEnd = new Set<number>();
  readonly #mustEnd = new Set<number>();
  #chargedEnds = 0;

  /**
   * Something failed that may end `epochs`; the epoch of a worker that ran, `worker`, has to end.
   */
  failed(epochs: readonly number[], worker: number, { deprecatedEpoch = 0 }: JobSetStatus): void {
    for (const epoch of epochs) this.#mayEnd.add(epoch);
    if (worker > deprecatedEpoch) this.#mustEnd.add(worker);
  }

  /** `isDue`: whether the Jobs show the user's change that the end of the epoch names. */
  checkWrite(
    old: JobSetStatus,
    status: JobSetStatus,
    isDue: (cause: 'Resumed' | 'Scaled') => boolean,
  ): void {
    const ended = status.deprecatedEpoch ?? 0;
    const before = old.deprecatedEpoch ?? 0;
    expect(ended, 'deprecatedEpoch never decreases').toBeGreaterThanOrEqual(before);
    for (const { name, syncedEpoch = 0 } of status.replicatedJobsStatus ?? []) {
      expect(syncedEpoch, 'S(r) never decreases').toBeGreaterThanOrEqual(releasedIn(old, name));
      expect(syncedEpoch, 'S(r) <= D + 1').toBeLessThanOrEqual(ended + 1);
    }
    const charge = chargesOf(status) - chargesOf(old);
    if (ended > before) {
      expect(ended).toBe(before + 1);
      this.#checkEnd(status.restartHistory?.[0], charge, isDue);
    } else expect(charge, 'only ends are charged').toBe(0);
  }

  /** For a status after which nothing more happens. */
  expectNothingLost(status: JobSetStatus): void {
    const epoch = (status.deprecatedEpoch ?? 0) + 1;
    const lost = [...this.#mustEnd].filter((failed) => failed >= epoch);
    expect(lost, 'no failure is lost').toEqual([]);
    expect(chargesOf(status), 'each end is charged once').toBe(this.#chargedEnds);
  }

  #checkEnd(
    record: RestartRecord | undefined,
    charge: number,
    isDue: (cause: 'Resumed' | 'Scaled') => boolean,
  ): void {
    expect(charge).toBe(record?.counted === true ? 1 : 0);
    this.#chargedEnds += charge;
    if (record?.cause === 'Resumed' || record?.cause === 'Scaled') {
      expect(charge).toBe(0);
      expect(isDue(record.cause), 'an epoch ended for nothing').toBe(true);
    } else {
      const hasFailed = this.#mayEnd.has(record?.epoch ?? 0);
      expect(hasFailed, `epoch ${record?.epoch} ended without a failure`).toBe(true);
      expect(record?.witness, 'every restart has a witness').toBeDefined();
    }
  }
}

function chargesOf(status: JobSetStatus): number {
  let sum = (status.restartsCountTowardsMax ?? 0) + (status.inPlaceRestartsCountTowardsMax ?? 0);
  for (const { jobRestartsCountTowardsMax = [] } of status.replicatedJobsStatus ?? []) {
    for (const restarts of jobRestartsCountTowardsMax) sum += restarts;
  }
  return sum;
}

function releasedIn({ replicatedJobsStatus }: JobSetStatus, name: string): number {
  return replicatedJobsStatus?.find((each) => each.name === name)?.syncedEpoch ?? 0;
}
