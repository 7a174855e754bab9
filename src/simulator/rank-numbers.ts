/** Checks the numbers of all ranks that start: what their programs build their communication on. */
import type { MemberRanks } from '../jobset/ranks/member-ranks.ts';

interface Numbered {
  readonly ranks: MemberRanks;
  readonly text: string;
  /** How often the numbers of its slot have changed so far. */
  readonly changes: number;
}

export class RankNumbers {
  /** How many ranks each member has; undefined: its worker is none. */
  readonly #processes: number | undefined;
  readonly #violates: (detail: string) => void;
  /** By slot, in each epoch. */
  readonly #epochs = new Map<number, Map<string, MemberRanks>>();
  /** The newest, by slot. */
  readonly #newest = new Map<string, Numbered>();
  #resizes = 0;

  constructor(processes: number | undefined, violates: (detail: string) => void) {
    this.#processes = processes;
    this.#violates = violates;
  }

  /** The user asks for another size, so all numbers may change once. */
  resized(): void {
    this.#resizes++;
  }

  started(slot: string, epoch: number, ranks: MemberRanks | undefined): void {
    if (ranks?.processes !== this.#processes) {
      const expected = `${this.#processes ?? 'no'} ranks are asked for`;
      this.#violates(`${slot} starts ${ranks?.processes ?? 'none'}, ${expected}`);
    }
    if (ranks === undefined) return;
    const others = this.#epochs.get(epoch) ?? new Map<string, MemberRanks>();
    this.#epochs.set(epoch, others);
    if (lastOf(ranks) >= ranks.world) {
      this.#violates(`${slot} has ${inWords(ranks)} in epoch ${epoch}`);
    }
    for (const [other, theirs] of others) {
      if (other === slot) continue;
      const isApart = lastOf(ranks) < theirs.firstRank || lastOf(theirs) < ranks.firstRank;
      if (isApart && theirs.world === ranks.world) continue;
      const both = `${inWords(ranks)}, and ${other} has ${inWords(theirs)}`;
      this.#violates(`${slot} has ${both} in epoch ${epoch}`);
    }
    others.set(slot, ranks);
    this.#compare(slot, ranks);
  }

  /** All of these slots run in the epoch. */
  rests(epoch: number, slots: readonly string[]): void {
    const asked = slots.length * (this.#processes ?? 0);
    for (const [slot, { world }] of this.#epochs.get(epoch) ?? []) {
      if (world !== asked) this.#violates(`${slot} has a world of ${world}, expected ${asked}`);
    }
  }

  #compare(slot: string, ranks: MemberRanks): void {
    const before = this.#newest.get(slot);
    const text = JSON.stringify(ranks);
    const isOther = before !== undefined && before.text !== text;
    const changes = (before?.changes ?? 0) + (isOther ? 1 : 0);
    if (isOther && changes > this.#resizes) {
      this.#violates(
        `${slot} had ${inWords(before.ranks)}, and has ${inWords(ranks)} without a new size`,
      );
    }
    this.#newest.set(slot, { ranks, text, changes });
  }
}

function lastOf({ firstRank, processes }: MemberRanks): number {
  return firstRank + processes - 1;
}

function inWords(ranks: MemberRanks): string {
  return `ranks ${ranks.firstRank} to ${lastOf(ranks)} of ${ranks.world}`;
}
