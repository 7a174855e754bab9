/** Checks each culprit that a status names as certain: something has befallen it. */
import type { RestartRecord } from '../jobset/jobset-status.ts';
import type { MemberRanks } from '../jobset/ranks/member-ranks.ts';

/** A member that something befalls. */
interface Victim {
  readonly pod: string;
  /** The numbers of the ranks that run in it; absent: the worker is none. */
  readonly ranks?: MemberRanks | undefined;
}

export class CertainCulprits {
  readonly #violates: (detail: string) => void;
  /** Pods that something befell, by the epoch. */
  readonly #victims = new Map<number, Set<string>>();
  /** `epoch pod rank` of each rank that something befell. */
  readonly #ranks = new Set<string>();
  /** Epochs in which more befell the group than can be said of each member. */
  readonly #excused = new Set<number>();

  constructor(violates: (detail: string) => void) {
    this.#violates = violates;
  }

  victimsOf(epoch: number): ReadonlySet<string> | undefined {
    return this.#victims.get(epoch);
  }

  /** `local`: this rank of the member alone. */
  befell({ pod, ranks }: Victim, epoch: number, local: number | undefined): void {
    this.#victims.set(epoch, (this.#victims.get(epoch) ?? new Set()).add(pod));
    for (let each = 0; each < (ranks?.processes ?? 0); each++) {
      if (local !== undefined && local !== each) continue;
      this.#ranks.add(`${epoch} ${pod} ${(ranks?.firstRank ?? 0) + each}`);
    }
  }

  excuse(epoch: number): void {
    this.#excused.add(epoch);
  }

  /** Suspects come in a later write than the end of their epoch, in which all members say how they ended. */
  wrote({ epoch, suspects = [] }: RestartRecord): void {
    if (this.#excused.has(epoch)) return;
    for (const { pod, rank, why, confidence } of suspects) {
      if (confidence !== 'Certain') continue;
      if (this.#victims.get(epoch)?.has(pod) !== true) this.#violates(`${pod}: ${why}`);
      else if (rank !== undefined && !this.#ranks.has(`${epoch} ${pod} ${rank}`)) {
        this.#violates(`rank ${rank}: ${why}`);
      }
    }
  }
}
