/** What happened in a simulated world: as events, and in words. */
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { JobSetStatus } from '../jobset/jobset-status.ts';
import type { Exit } from '../jobset/worker-end/worker-end.ts';
import { actInWords } from './act-words.ts';
import type { Violation } from './properties.ts';
import type { Act } from './scenario.ts';
import type { Tracer } from './trace.ts';

/** A run has fewer; beyond it only the newest are kept. */
const MAX_EVENTS = 20_000;

export type HistoryEvent =
  /** `target`: what the act befalls, if it befalls one. */
  | { readonly kind: 'Act'; readonly act: Act; readonly target?: string }
  /** Nothing more befalls the group. */
  | { readonly kind: 'Peace' }
  | {
      readonly kind: 'WorkerStarts';
      readonly member: string;
      readonly epoch: number;
      readonly wasStandby: boolean;
    }
  | {
      readonly kind: 'WorkerEnds';
      readonly member: string;
      readonly epoch: number;
      readonly exit: Exit;
    }
  | { readonly kind: 'PodEnds'; readonly member: string; readonly exitCode: number }
  | ({ readonly kind: 'Status' } & StatusInBrief)
  | { readonly kind: 'Violated'; readonly violation: Violation };

interface StatusInBrief {
  readonly ended: number;
  /** The epoch of the last release, by ReplicatedJob. */
  readonly released: Readonly<Record<string, number>>;
  readonly charged: number;
  /** Conditions that are true. */
  readonly conditions: readonly string[];
}

/** An event and its time, in milliseconds since the world began. */
export type TimedEvent = HistoryEvent & { readonly atMs: number };

export class History {
  /** Undefined: nobody asked for a trace. */
  readonly tracer: Tracer | undefined;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #events: TimedEvent[] = [];
  #status: string | undefined;
  #violation: Violation | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>, tracer?: Tracer) {
    this.#clock = clock;
    this.tracer = tracer;
  }

  /** The first one; later ones may follow from it. */
  get violation(): Violation | undefined {
    return this.#violation;
  }

  get events(): readonly TimedEvent[] {
    return this.#events;
  }

  add(event: HistoryEvent): void {
    const atMs = this.#clock.monotonic();
    this.#events.push({ atMs, ...event });
    this.tracer?.event({ kind: event.kind, atMs, text: wordsOf(event) });
    if (this.#events.length > 2 * MAX_EVENTS) this.#events = this.#events.slice(-MAX_EVENTS);
  }

  sawStatus(status: JobSetStatus): void {
    const brief = inBrief(status);
    const text = JSON.stringify(brief);
    if (text === this.#status) return;
    this.#status = text;
    this.add({ kind: 'Status', ...brief });
  }

  violated(violation: Violation): void {
    this.add({ kind: 'Violated', violation });
    this.#violation ??= violation;
  }
}

function inBrief(status: JobSetStatus): StatusInBrief {
  const { deprecatedEpoch: ended = 0, replicatedJobsStatus = [], conditions = [] } = status;
  const { inPlaceRestartsCountTowardsMax = 0, restartsCountTowardsMax = 0 } = status;
  return {
    ended,
    released: Object.fromEntries(
      replicatedJobsStatus.map(({ name, syncedEpoch = 0 }) => [name, syncedEpoch]),
    ),
    charged: inPlaceRestartsCountTowardsMax + restartsCountTowardsMax,
    conditions: conditions.filter((each) => each.status === 'True').map(({ type }) => type),
  };
}

/** One line, or several for the stack of an error. */
export function inWords(event: TimedEvent): string {
  return `${(event.atMs / 1000).toFixed(3).padStart(9)} s  ${wordsOf(event)}`;
}

function wordsOf(event: HistoryEvent): string {
  switch (event.kind) {
    case 'Act':
      return `>> ${actInWords(event.act, event.target)}`;
    case 'Peace':
      return '>> peace';
    case 'WorkerStarts':
      return `${event.member} starts in epoch ${event.epoch}${event.wasStandby ? ', from its standby' : ''}`;
    case 'WorkerEnds': {
      const { member, epoch, exit } = event;
      const how = 'signal' in exit ? exit.signal : `exit code ${exit.exitCode}`;
      return `${member} ends in epoch ${epoch}: ${how}`;
    }
    case 'PodEnds':
      return `the Pod of ${event.member} ends: ${event.exitCode}`;
    case 'Status': {
      const { ended, released, charged, conditions } = event;
      const epochs = Object.entries(released).map(([name, epoch]) => `${name} ${epoch}`);
      const releases = epochs.length === 0 ? '' : `, released ${epochs.join(', ')}`;
      const states = conditions.length === 0 ? '' : `; ${conditions.join(' ')}`;
      return `status: ended ${ended}${releases}, charged ${charged}${states}`;
    }
    case 'Violated':
      return `VIOLATED: ${event.violation.property}: ${event.violation.detail}`;
  }
}
