/** Asks the API server what the user may do to JobSets of a namespace. */

import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { JOBSETS } from '../../../jobset/jobset.ts';
import type { NamedJobSet } from '../../named-jobset.ts';
import { mayI } from '../../own-rights.ts';

const VERBS = ['patch', 'delete'] as const;
/** What the user may do; the API server judges each action anyway. */
export type Rights = Readonly<Record<(typeof VERBS)[number], boolean>>;

/** Roles change seldom. */
const FRESH_MS = 60_000;
const TIMEOUT_MS = 5000;

export class RightsCheck {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #at: NamedJobSet['at'];
  #last: { readonly rights: Rights; readonly untilMs: number } | undefined;

  constructor(client: Client, clock: Clock, at: NamedJobSet['at']) {
    this.#client = client;
    this.#clock = clock;
    this.#at = at;
  }

  /** An action was refused, so they may have changed. */
  forget(): void {
    this.#last = undefined;
  }

  /** Undefined if the server does not say: then only a try can tell. */
  async current(signal: AbortSignal): Promise<Rights | undefined> {
    const nowMs = this.#clock.monotonic();
    if (this.#last !== undefined && nowMs < this.#last.untilMs) return this.#last.rights;
    try {
      const ask = (within: AbortSignal): Promise<readonly boolean[]> =>
        Promise.all(VERBS.map((verb) => this.#may(verb, within)));
      const [patch = true, remove = true] = await withDeadline(
        this.#clock,
        TIMEOUT_MS,
        signal,
        ask,
      );
      const rights = { patch, delete: remove };
      this.#last = { rights, untilMs: nowMs + FRESH_MS };
      return rights;
    } catch {
      signal.throwIfAborted();
      return this.#last?.rights;
    }
  }

  #may(verb: string, signal: AbortSignal): Promise<boolean> {
    const { group, plural: resource } = JOBSETS;
    return mayI(this.#client, { ...this.#at, verb, group, resource }, signal);
  }
}
