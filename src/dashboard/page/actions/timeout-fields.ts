/** Which time-out is changed, and to what. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import type { TimeoutView } from '../../../jobset/view/spec-view.ts';
import { shown } from '../elements/shown-text.ts';

export interface TimeoutChoice {
  readonly annotation: string;
  /** Empty: the annotation is removed. */
  readonly value: string;
}

export interface TimeoutFieldsProps {
  readonly timeouts: readonly TimeoutView[];
  readonly choice: TimeoutChoice;
  readonly onChoose: (choice: TimeoutChoice) => void;
}

interface Changed<Field> {
  readonly currentTarget: Field;
}

export function TimeoutFields({ timeouts, choice, onChoose }: TimeoutFieldsProps): VNode {
  const meaning = useId();
  const chosen = timeouts.find(({ annotation }) => annotation === choice.annotation);
  return html`<div class="timeout-fields">
    <label class="field">
      Time-out
      <select
        class="input"
        value=${choice.annotation}
        onChange=${({ currentTarget }: Changed<HTMLSelectElement>) => {
          const annotation = currentTarget.value;
          const before = timeouts.find((each) => each.annotation === annotation);
          onChoose({ annotation, value: before?.value ?? '' });
        }}
      >
        ${timeouts.map(({ annotation }) => html`<option key=${annotation}>${annotation}</option>`)}
      </select>
    </label>
    <label class="field">
      New value
      <input
        class="input"
        autocomplete="off"
        spellcheck=${false}
        placeholder="Empty: remove it"
        maxlength="64"
        aria-describedby=${meaning}
        value=${choice.value}
        onInput=${({ currentTarget }: Changed<HTMLInputElement>) =>
          onChoose({ annotation: choice.annotation, value: currentTarget.value })}
      />
    </label>
    <p id=${meaning} class="quiet">
      ${chosen?.meaning} Now: ${chosen?.value === undefined || chosen.value === null ? 'not set' : shown(chosen.value)}.
    </p>
  </div>`;
}
