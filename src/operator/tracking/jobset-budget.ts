/**
 * Which JobSets the operator keeps, if the JobSets of one namespace would take too much of its
 * memory. Any user may create many, of a megabyte each. A JobSet that is kept stays, however many
 * come later.
 */

import { memoryWeight } from '@lockstep/kube/json/memory-weight.ts';
import { namespaceOf, type Stored } from '@lockstep/kube/meta.ts';
import type { JobSet } from '../../jobset/jobset.ts';

/** Limits in bytes, estimated like the weight of a JobSet. */
export interface BudgetLimits {
  readonly taken: number;
  readonly grown: number;
}

export const MEBIBYTE = 1024 * 1024;
/**
 * The limits of each namespace. Beyond the first, no new JobSet is taken in. JobSets that have begun
 * may grow up to the second, so that one more annotation leaves none out.
 */
export const JOBSET_LIMITS: BudgetLimits = { taken: 128 * MEBIBYTE, grown: 192 * MEBIBYTE };

/** A JobSet; its status does not count, because only the operator writes it. */
export interface Holding {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly weight: number;
  /** Whether it has a status: every replica sees that, so a new leader serves the same JobSets. */
  readonly hasBegun: boolean;
}

interface Division {
  readonly taken: Holdings;
  readonly leftOut: Map<string, Holding>;
}

export class JobSetBudget {
  readonly #limits: BudgetLimits;
  #now = undivided();
  /** The JobSets in the list that is being read; without a list, the same as `#now`. */
  #shown = this.#now;
  /** Whether there may be more room since the last look at JobSets that were left out. */
  #mayHaveRoom = false;

  constructor(limits = JOBSET_LIMITS) {
    this.#limits = limits;
  }

  /** By UID. */
  get leftOut(): ReadonlyMap<string, Holding> {
    return this.#now.leftOut;
  }

  /** A list begins; it may begin again before it has ended. Deleted JobSets take no room in it. */
  beginList(): void {
    this.#shown = undivided();
  }

  /** A list is not sorted by age, so new JobSets are left out only at its end. */
  endList(): void {
    for (const holding of this.#shown.taken.all()) {
      if (!this.#stays(holding)) this.#divide(holding, this.#shown);
    }
    this.#now = this.#shown;
    this.#mayHaveRoom = true;
  }

  /** Whether to keep the JobSet, which is new or has changed. */
  offer(jobSet: Stored<JobSet>): boolean {
    const holding = holdingOf(jobSet);
    const old = this.#now.taken.get(holding.uid);
    const isKept = this.#divide(holding, this.#shown, this.#stays(holding));
    if (old !== undefined && (!isKept || old.weight > holding.weight)) this.#mayHaveRoom = true;
    return isKept;
  }

  /** The JobSet is deleted, or not ours any more. */
  forget(uid: string): void {
    this.#now.leftOut.delete(uid);
    if (this.#now.taken.remove(uid)) this.#mayHaveRoom = true;
  }

  /**
   * Takes in JobSets that were left out and fit now, and returns whether there are any: the next list
   * has to bring them. Looks only after a change.
   */
  takeMore(): boolean {
    if (!this.#mayHaveRoom) return false;
    this.#mayHaveRoom = false;
    const leftOut = [...this.leftOut.values()];
    return leftOut.filter((holding) => this.#divide(holding, this.#now)).length > 0;
  }

  #divide(holding: Holding, { taken, leftOut }: Division, stays = false): boolean {
    const { uid } = holding;
    taken.remove(uid);
    leftOut.delete(uid);
    const isKept = stays || this.#fits(holding, taken);
    if (isKept) taken.add(holding);
    else leftOut.set(uid, holding);
    return isKept;
  }

  /** Whether the JobSet stays, whatever the others do. */
  #stays({ uid, weight }: Holding): boolean {
    const old = this.#now.taken.get(uid);
    return old !== undefined && weight <= old.weight;
  }

  #fits({ namespace, weight, hasBegun }: Holding, taken: Holdings): boolean {
    const { all, begun } = taken.use(namespace);
    const { taken: most, grown } = this.#limits;
    return hasBegun ? begun + weight <= grown : all + weight <= most;
  }
}

interface Use {
  readonly all: number;
  readonly begun: number;
}

const NO_USE: Use = { all: 0, begun: 0 };

/** JobSets by UID, with the sums of each namespace. */
class Holdings {
  readonly #holdings = new Map<string, Holding>();
  readonly #uses = new Map<string, Use>();

  get(uid: string): Holding | undefined {
    return this.#holdings.get(uid);
  }

  all(): Holding[] {
    return [...this.#holdings.values()];
  }

  use(namespace: string): Use {
    return this.#uses.get(namespace) ?? NO_USE;
  }

  add(holding: Holding): void {
    this.#holdings.set(holding.uid, holding);
    this.#count(holding, holding.weight);
  }

  remove(uid: string): boolean {
    const holding = this.#holdings.get(uid);
    if (holding === undefined) return false;
    this.#holdings.delete(uid);
    this.#count(holding, -holding.weight);
    return true;
  }

  #count({ namespace, hasBegun }: Holding, weight: number): void {
    const { all, begun } = this.use(namespace);
    if (all + weight === 0) this.#uses.delete(namespace);
    else this.#uses.set(namespace, { all: all + weight, begun: begun + (hasBegun ? weight : 0) });
  }
}

function undivided(): Division {
  return { taken: new Holdings(), leftOut: new Map() };
}

/** `managedFields` are not kept. */
function holdingOf({ metadata, spec, status }: Stored<JobSet>): Holding {
  const { managedFields: _, ...kept } = metadata;
  return {
    uid: metadata.uid,
    name: metadata.name,
    namespace: namespaceOf(metadata),
    weight: memoryWeight({ metadata: kept, spec }),
    // For other fields of a new JobSet the definition may have defaults.
    hasBegun: status?.restarts !== undefined || status?.conditions !== undefined,
  };
}
