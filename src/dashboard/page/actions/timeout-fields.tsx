/** Which time-out is changed, and to what. */
import { useId } from 'preact/hooks';
import { progressTimeoutErrors } from '../../../jobset/progress/progress-timeouts.ts';
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

export function TimeoutFields({ timeouts, choice, onChoose }: TimeoutFieldsProps) {
  const [meaning, problem] = [useId(), useId()];
  const why = problemOf(choice);
  const chosen = timeouts.find(({ annotation }) => annotation === choice.annotation);
  return (
    <div class="timeout-fields">
      <label class="field">
        Time-out
        <select
          class="input"
          value={choice.annotation}
          onChange={({ currentTarget }) => {
            const annotation = currentTarget.value;
            const before = timeouts.find((each) => each.annotation === annotation);
            onChoose({ annotation, value: before?.value ?? '' });
          }}
        >
          {timeouts.map(({ annotation }) => (
            <option key={annotation}>{annotation}</option>
          ))}
        </select>
      </label>
      <label class="field">
        New value
        <input
          class="input"
          autocomplete="off"
          spellcheck={false}
          placeholder="Empty: remove it"
          maxlength={64}
          aria-describedby={`${meaning} ${problem}`}
          aria-invalid={why !== ''}
          ref={(field) => field?.setCustomValidity(why)}
          value={choice.value}
          onInput={({ currentTarget }) =>
            onChoose({ annotation: choice.annotation, value: currentTarget.value })
          }
        />
      </label>
      <p id={problem} class="action-problem" aria-live="polite">
        {shown(why)}
      </p>
      <p id={meaning} class="quiet">
        {chosen?.meaning} Now:{' '}
        {chosen?.value === undefined || chosen.value === null ? 'not set' : shown(chosen.value)}.
      </p>
    </div>
  );
}

/** Empty if the value may be sent: the browser sends no form with a field that has a problem. */
function problemOf({ annotation, value }: TimeoutChoice): string {
  const text = value.trim();
  if (text === '') return '';
  const [error] = progressTimeoutErrors({ [annotation]: text });
  return error === undefined ? '' : `It is refused: ${error.detail}.`;
}
