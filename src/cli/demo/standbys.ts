/** Which Pods have a warm standby that is ready, by what their agents log. */

/** A standby became the worker of its Pod. */
const PROMOTED = 'the standby becomes the worker';

const READY_AFTER: ReadonlyMap<string, boolean> = new Map([
  ['a standby waits for the next epoch', true],
  ['a standby died', false],
  ['the standby is not promoted', false],
  ['this Pod keeps no standby any more', false],
  [PROMOTED, false],
]);

export class Standbys {
  readonly #ready = new Set<string>();

  /** How many Pods have one that is ready. */
  get ready(): number {
    return this.#ready.size;
  }

  /** Takes a line of the agent of that Pod. Returns whether a standby became its worker. */
  took(pod: string, message: string): boolean {
    const isReady = READY_AFTER.get(message);
    if (isReady === true) this.#ready.add(pod);
    if (isReady === false) this.#ready.delete(pod);
    return message === PROMOTED;
  }
}
