/**
 * How members of one group ended: soft state, kept until the record of the restart is written, and
 * lost with this process. Agents repeat their reports; no decision about an epoch depends on it
 * (`docs/design/culprits.md#what-is-known`).
 */

import type { Member, MemberEnd, MemberEvidence } from './group-evidence.ts';

/** Pods of a group that are remembered: new Pods in place of failed ones may be without end. */
const MAX_PODS = 20_000;
/** Members of a group whose last words are remembered, half a kilobyte each. */
const MAX_WORDS = 256;

interface KnownEnd extends MemberEvidence {
  /** The epoch in which the worker ran. */
  readonly epoch: number;
}

export class GroupEnds {
  /** No epoch before this one is of interest. */
  #floor = 1;
  /** By UID of the Pod. */
  readonly #pods = new Map<string, KnownEnd>();
  /** How many of them have last words. */
  #words = 0;

  /** Members whose worker ran in that epoch, and of whose end something is known. */
  in(epoch: number): readonly MemberEvidence[] {
    const found: MemberEvidence[] = [];
    for (const { epoch: ran, member, end } of this.#pods.values()) {
      if (ran === epoch) found.push({ member, end });
    }
    return found;
  }

  /** The surest report of the newest epoch counts, and the first of equally sure ones. */
  note(epoch: number, member: Member, told: MemberEnd): void {
    if (epoch < this.#floor) return;
    const { podUid } = member;
    const before = this.#pods.get(podUid);
    if (before === undefined && this.#pods.size >= MAX_PODS) return;
    const isKnown = before?.epoch === epoch && weight(before.end) >= weight(told);
    if (isKnown || (before !== undefined && before.epoch > epoch)) return;
    if (before !== undefined) this.#drop(podUid, before);
    const end = this.#words < MAX_WORDS ? told : withoutWords(told);
    if (hasWords(end)) this.#words++;
    this.#pods.set(podUid, { epoch, member, end });
  }

  /** The agent of a member that is lost was last known to live at `seenMs`. */
  sawLost(podUid: string, seenMs: number): void {
    const known = this.#pods.get(podUid);
    if (known?.end.kind !== 'Lost') return;
    this.#pods.set(podUid, { ...known, end: { ...known.end, seenMs } });
  }

  sawNode(podUid: string, node: string): void {
    const known = this.#pods.get(podUid);
    if (known === undefined) return;
    this.#pods.set(podUid, { ...known, member: { ...known.member, node } });
  }

  /** What is known of the ends in epochs before that one is in the status now. */
  settle(epoch: number): void {
    if (this.#floor >= epoch) return;
    this.#floor = epoch;
    for (const [uid, known] of this.#pods) if (known.epoch < epoch) this.#drop(uid, known);
  }

  #drop(podUid: string, known: KnownEnd): void {
    if (hasWords(known.end)) this.#words--;
    this.#pods.delete(podUid);
  }
}

/** What an agent tells is more than what the operator sees, and the hub's times are surer. */
function weight(end: MemberEnd): number {
  switch (end.kind) {
    case 'Ended':
      return end.isOverApi === true ? 3 : 4;
    case 'Succeeded':
      return 2;
    case 'Returned':
    case 'Lost':
      return 1;
  }
}

function hasWords(end: MemberEnd): boolean {
  return end.kind === 'Ended' && end.lastWords !== undefined;
}

function withoutWords(end: MemberEnd): MemberEnd {
  if (end.kind !== 'Ended') return end;
  const { lastWords: _, ...rest } = end;
  return rest;
}
