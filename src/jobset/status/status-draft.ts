import type { JobSetStatus, RestartCause } from '../jobset.ts';
import { type ConditionChange, changeCondition, isTrue } from './conditions.ts';

/**
 * The next status of a JobSet while `plan` works it out, with what is to be said and counted once it
 * is written. A draft that says nothing new is not written.
 */
export class StatusDraft {
  readonly #nowMs: number;
  readonly #events: PlannedEvent[] = [];
  readonly #outcomes: Outcome[] = [];
  #status: JobSetStatus;
  #isChanged = false;

  constructor(status: JobSetStatus | undefined, nowMs: number) {
    this.#nowMs = nowMs;
    this.#status = status ?? {};
  }

  get status(): JobSetStatus {
    return this.#status;
  }

  get isChanged(): boolean {
    return this.#isChanged;
  }

  get events(): readonly PlannedEvent[] {
    return this.#events;
  }

  get outcomes(): readonly Outcome[] {
    return this.#outcomes;
  }

  /** Call it only with values that differ from the present ones. */
  set(fields: Partial<JobSetStatus>): void {
    this.#status = { ...this.#status, ...fields };
    this.#isChanged = true;
  }

  /** Call it only with a field that is there. */
  remove(field: 'startTime'): void {
    const { [field]: _, ...others } = this.#status;
    this.#status = others;
    this.#isChanged = true;
  }

  /** Changes a condition and, if that is a change, plans the Event that goes with it. */
  condition(change: ConditionChange, event: 'Normal' | 'Warning' | 'None'): void {
    const before = this.#status.conditions ?? [];
    const conditions = changeCondition(before, change, this.#nowMs);
    if (conditions === before) return;
    this.set({ conditions });
    if (event !== 'None') this.event(event, change.reason, change.message);
  }

  /** Turns a condition off if it is there and on. */
  clear(change: Omit<ConditionChange, 'status'>): void {
    if (!isTrue(this.#status.conditions, change.type)) return;
    this.condition({ ...change, status: 'False' }, 'Normal');
  }

  event(type: PlannedEvent['type'], reason: string, note: string): void {
    this.#events.push({ type, reason, note });
  }

  /** An Event about something that lasts: it is recorded once, though each plan says it again. */
  eventOnce(type: PlannedEvent['type'], reason: string, note: string): void {
    this.#events.push({ type, reason, note, isOnce: true });
  }

  outcome(outcome: Outcome): void {
    this.#outcomes.push(outcome);
  }
}

/** An Event about the JobSet, to be recorded after its status was written. */
export interface PlannedEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
  readonly isOnce?: true;
}

/** What metrics count. */
export type Outcome =
  | { readonly kind: 'Completed' }
  | { readonly kind: 'Failed' }
  | { readonly kind: 'JobsRestarted'; readonly counted: boolean }
  | {
      readonly kind: 'EpochEnded';
      readonly cause: RestartCause;
      readonly counted: boolean;
      readonly detectMs?: number;
    }
  | { readonly kind: 'EpochReleased'; readonly announceMs?: number; readonly releaseMs?: number };
