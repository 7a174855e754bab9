/** Buttons, keys and a slider that lead from event to event. */
import { useCallback } from 'preact/hooks';
import type { TraceEvent } from '../../messages/trace.ts';
import { shown } from '../elements/shown-text.ts';
import { useKey } from '../frame/keys.tsx';
import {
  CHOICE_WORDS,
  CHOICES,
  type Choice,
  firstViolation,
  slideTo,
  stepFrom,
  traceTime,
} from './steps.ts';

export interface ControlsProps {
  readonly events: readonly TraceEvent[];
  /** The events between which one steps. */
  readonly indices: readonly number[];
  /** The event that is shown, from 0. */
  readonly at: number;
  readonly go: (to: number) => void;
  /** Goes to the event before or after it. */
  readonly step: (by: -1 | 1) => void;
  readonly choice: Choice;
  readonly choose: (choice: Choice) => void;
}

export function Controls({ events, indices, at, go, step, choice, choose }: ControlsProps) {
  const violation = firstViolation(events);
  const last = events.length - 1;
  const hasNext = (by: -1 | 1): boolean => stepFrom(at, by, indices) !== undefined;
  const back = useCallback(() => step(-1), [step]);
  const on = useCallback(() => step(1), [step]);
  const toViolation = useCallback(() => {
    if (violation !== undefined) go(violation);
  }, [violation, go]);
  useKey('ArrowLeft', back);
  useKey('ArrowRight', on);
  useKey('v', toViolation);
  const { text, atMs } = events[at] ?? { text: '', atMs: 0 };
  const number = `Event ${(at + 1).toLocaleString('en')} of ${events.length.toLocaleString('en')}`;
  return (
    <div class="player-controls">
      <div class="player-buttons" role="group" aria-label="Steps">
        <Step sign="⇤" name="To the start" isOff={at === 0} press={() => go(0)} />
        <Step sign="←" name="Back" isOff={!hasNext(-1)} press={back} />
        <Step sign="→" name="Step" isOff={!hasNext(1)} press={on} />
        <Step sign="⇥" name="To the end" isOff={at === last} press={() => go(last)} />
        {violation === undefined ? (
          <span class="quiet">No property was violated.</span>
        ) : (
          <button type="button" class="button is-danger" onClick={toViolation}>
            Jump to the violation
          </button>
        )}
        <div class="part-tools" role="group" aria-label="Step through">
          <span class="quiet" aria-hidden="true">
            Step through
          </span>
          {CHOICES.map((each) => (
            <button
              key={each}
              type="button"
              class={`button ${each === choice ? 'is-on' : ''}`}
              aria-pressed={each === choice}
              onClick={() => choose(each)}
            >
              {CHOICE_WORDS[each]}
            </button>
          ))}
        </div>
      </div>
      <input
        class="player-slider"
        type="range"
        min={1}
        max={events.length}
        value={at + 1}
        aria-label="Event"
        aria-valuetext={`${number}, at ${traceTime(atMs)}: ${shown(text, 200)}`}
        onInput={({ currentTarget }) => {
          const to = slideTo(at, currentTarget.valueAsNumber - 1, indices);
          currentTarget.valueAsNumber = to + 1;
          go(to);
        }}
      />
      <p class="player-now" role="status">
        <span class="quiet">
          {number}, at {traceTime(atMs)}
        </span>{' '}
        <b>{shown(text, 600)}</b>
      </p>
    </div>
  );
}

interface StepProps {
  readonly sign: string;
  readonly name: string;
  /** There is nothing in that direction. The button keeps the focus, so that Enter and Space do no harm. */
  readonly isOff: boolean;
  readonly press: () => void;
}

function Step({ sign, name, isOff, press }: StepProps) {
  return (
    <button type="button" class="button" aria-disabled={isOff} onClick={press}>
      <span aria-hidden="true">{sign}</span> {name}
    </button>
  );
}
