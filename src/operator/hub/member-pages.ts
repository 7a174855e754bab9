/** The pages of members of a JobSet, and of the groups of a namespace. */

import { type Clock, sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import type { MemberReport } from '../../jobset/hub/member-report.ts';
import type { GroupReport } from '../../jobset/view/group-report.ts';

type Report = MemberReport | GroupReport;

const LIFETIME_MS = 1000;
/** Writing takes no more than a twentieth of the process's time. */
const LIFETIME_PER_WRITING_TIME = 20;
/** After this many members, some milliseconds, the event loop gets its turn. */
const SLICE = 500;
const MAX_PAGES = 256;
/** The limit for all pages except the newest; 30,000 members that report progress take 6 MB. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

interface Page {
  readonly json: Promise<Uint8Array>;
  /** 0 while it is being written. */
  byteLength: number;
  untilMs: number;
}

/** A page is JSON, written once for all requests within a short time. */
export class MemberPages {
  readonly #clock: Clock;
  /** The oldest first. */
  readonly #pages = new Map<string, Page>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `of`: `ownerKey` of the JobSet, or the namespace. */
  page(of: string, reports: () => Iterable<Report>): Promise<Uint8Array> {
    const known = this.#pages.get(of);
    const startedMs = this.#clock.monotonic();
    if (known !== undefined && startedMs < known.untilMs) return known.json;
    this.#pages.delete(of);
    const json = this.#write(reports());
    const page: Page = { json, byteLength: 0, untilMs: Number.POSITIVE_INFINITY };
    this.#pages.set(of, page);
    json.then(
      ({ byteLength }) => {
        const nowMs = this.#clock.monotonic();
        const lifetimeMs = (nowMs - startedMs) * LIFETIME_PER_WRITING_TIME;
        page.untilMs = nowMs + Math.max(LIFETIME_MS, lifetimeMs);
        page.byteLength = byteLength;
        this.#forgetOldest();
      },
      () => this.#pages.delete(of),
    );
    return json;
  }

  #forgetOldest(): void {
    let bytes = 0;
    for (const { byteLength } of this.#pages.values()) bytes += byteLength;
    for (const [of, { byteLength }] of this.#pages) {
      if (this.#pages.size <= MAX_PAGES && bytes <= MAX_KEPT_BYTES) return;
      if (this.#pages.size > 1) this.#pages.delete(of);
      bytes -= byteLength;
    }
  }

  async #write(reports: Iterable<Report>): Promise<Uint8Array> {
    const slices: string[] = [];
    let slice: string[] = [];
    for (const report of reports) {
      slice.push(JSON.stringify(report));
      if (slice.length < SLICE) continue;
      slices.push(slice.join());
      slice = [];
      await sleep(this.#clock, 0);
    }
    if (slice.length > 0) slices.push(slice.join());
    return Buffer.from(`[${slices.join()}]`);
  }
}
