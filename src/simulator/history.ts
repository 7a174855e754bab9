/** What happened in a simulated world, in words. */
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { JobSetStatus } from '../jobset/jobset-status.ts';
import type { Violation } from './properties.ts';

/** A run has fewer; beyond it only the newest are kept. */
const MAX_LINES = 20_000;

export class History {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #lines: string[] = [];
  #said: string | undefined;
  #violation: Violation | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** The first one; later ones may follow from it. */
  get violation(): Violation | undefined {
    return this.#violation;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  add(text: string): void {
    const seconds = (this.#clock.monotonic() / 1000).toFixed(3);
    this.#lines.push(`${seconds.padStart(9)} s  ${text}`);
    if (this.#lines.length > 2 * MAX_LINES) this.#lines = this.#lines.slice(-MAX_LINES);
  }

  sawStatus(status: JobSetStatus): void {
    const { deprecatedEpoch = 0, replicatedJobsStatus = [], conditions = [] } = status;
    const released = replicatedJobsStatus.map(
      ({ name, syncedEpoch = 0 }) => `${name} ${syncedEpoch}`,
    );
    const counted =
      (status.inPlaceRestartsCountTowardsMax ?? 0) + (status.restartsCountTowardsMax ?? 0);
    const held = conditions.filter((each) => each.status === 'True').map(({ type }) => type);
    const text = `status: ended ${deprecatedEpoch}, released ${released.join(', ')}, charged ${counted}; ${held.join(' ')}`;
    if (text === this.#said) return;
    this.#said = text;
    this.add(text);
  }

  violated(violation: Violation): void {
    this.add(`VIOLATED: ${violation.property}: ${violation.detail}`);
    this.#violation ??= violation;
  }
}
