/** The controller's memory of members of one JobSet that do not start. */
import type { MissingState, StartLook } from '../../jobset/plan/snapshot.ts';

interface Waiting {
  readonly sinceMs: number;
  readonly key: string;
  /** Since when a Job lacks a Pod; undefined: none does. */
  readonly noPodMs: number | undefined;
  readonly looks: number;
  readonly idleLooks: number;
  readonly calmLooks: number;
}

const NO_LOOKS = { looks: 0, idleLooks: 0, calmLooks: 0 } as const;

export class StartMemory {
  #readMs = Number.NEGATIVE_INFINITY;
  /** Undefined: no member is missing. */
  #waiting: Waiting | undefined;

  look(nowMs: number): StartLook {
    const { sinceMs = nowMs, noPodMs = nowMs, ...counts } = this.#waiting ?? {};
    return {
      ...NO_LOOKS,
      ...counts,
      missingForMs: nowMs - sinceMs,
      noPodForMs: nowMs - noPodMs,
      sinceLookMs: nowMs - this.#readMs,
    };
  }

  /** Takes the missing members from a plan; undefined: no member is missing. */
  missing(state: MissingState | undefined, nowMs: number): void {
    if (state === undefined) {
      this.#waiting = undefined;
      return;
    }
    const { key, lacksPods } = state;
    const before = this.#waiting ?? { ...NO_LOOKS, sinceMs: nowMs, key, noPodMs: undefined };
    this.#waiting = {
      ...before,
      key,
      noPodMs: lacksPods ? (before.noPodMs ?? nowMs) : undefined,
      idleLooks: key === before.key ? before.idleLooks : 0,
      calmLooks: lacksPods ? 0 : before.calmLooks,
    };
  }

  /** No Pod may be looked for now. */
  putOff(nowMs: number): void {
    this.#readMs = nowMs;
  }

  /** A Pod was looked for; undefined: none was found, or not in time. */
  looked(isHeld: boolean | undefined, nowMs: number): void {
    this.#readMs = nowMs;
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    const calmLooks = isHeld === true ? 0 : waiting.calmLooks + (isHeld === false ? 1 : 0);
    const { looks, idleLooks } = waiting;
    this.#waiting = { ...waiting, looks: looks + 1, idleLooks: idleLooks + 1, calmLooks };
  }
}
