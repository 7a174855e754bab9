/** The last step of an action: what it does, the command that does the same, and the answer. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Action, type ActionRequest, commandOf } from '../../messages/action.ts';
import type { RunView } from '../../messages/run.ts';
import { postAction } from '../adapters/browser.ts';
import { Command } from '../elements/command.tsx';
import { shown } from '../elements/shown-text.ts';
import { useSay } from '../frame/said.tsx';
import { ACTION_WORDS, type ActionKind } from './action-words.ts';
import { type TimeoutChoice, TimeoutFields } from './timeout-fields.tsx';

export interface ConfirmationProps {
  readonly kind: ActionKind;
  readonly run: RunView;
  readonly onBack: () => void;
}

type Progress =
  | { readonly is: 'Asking' }
  | { readonly is: 'Sent' }
  | { readonly is: 'Refused' | 'Unanswered'; readonly why: string };

export function Confirmation({ kind, run, onBack }: ConfirmationProps) {
  const { namespace, name, epoch } = run.jobSet;
  const [first] = run.spec.timeouts;
  const [timeout, chooseTimeout] = useState<TimeoutChoice>({
    annotation: first?.annotation ?? '',
    value: first?.value ?? '',
  });
  const say = useSay();
  const [typedName, typeName] = useState('');
  const [progress, advance] = useState<Progress>({ is: 'Asking' });
  const start = useRef<HTMLFormElement>(null);
  useEffect(
    () => start.current?.querySelector<HTMLElement>('input, select, .is-main')?.focus(),
    [],
  );
  const action = actionOf(kind, epoch, timeout);
  const words = ACTION_WORDS[kind];
  if (action === null) {
    return <p>{kind === 'Restart' ? 'There is no epoch to end.' : 'It has no time-out.'}</p>;
  }
  const request: ActionRequest = { namespace, name, uid: run.uid, action };
  const send = (event: Event): void => {
    event.preventDefault();
    advance({ is: 'Sent' });
    postAction(request).then(
      ({ problem }) => {
        if (problem !== null) advance({ is: 'Refused', why: problem });
        else {
          // The focus goes back to where it was before the dialog.
          start.current?.closest('dialog')?.close();
          say(`${shown(name)}: ${words.done}`);
        }
      },
      (error: unknown) => advance({ is: 'Unanswered', why: reasonOf(error) }),
    );
  };
  const before = run.spec.timeouts.find(({ annotation }) => annotation === timeout.annotation);
  const isSure =
    (kind !== 'Delete' || typedName === name) &&
    (action.kind !== 'SetTimeout' || action.value !== before?.value);
  return (
    <form class="confirmation" ref={start} onSubmit={send}>
      <ul class="action-effects">
        {words.effects.map((effect) => (
          <li key={effect}>{effect}</li>
        ))}
      </ul>
      {kind === 'SetTimeout' && (
        <TimeoutFields timeouts={run.spec.timeouts} choice={timeout} onChoose={chooseTimeout} />
      )}
      {kind === 'Delete' && (
        <label class="field">
          <span>
            Type <b class="mono">{shown(name)}</b> to delete it
          </span>
          <input
            class="input"
            autocomplete="off"
            spellcheck={false}
            value={typedName}
            onInput={({ currentTarget }) => typeName(currentTarget.value)}
          />
        </label>
      )}
      <div>
        <p class="quiet">This command does the same:</p>
        <Command command={commandOf(request, run.clusterFlags)} />
      </div>
      <div aria-live="assertive">
        {'why' in progress && (
          <p class="action-problem">
            <b>{PROBLEMS[progress.is]}</b> {shown(progress.why)}
          </p>
        )}
      </div>
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onBack}>
          Back
        </button>
        <button
          type="submit"
          class={`button is-main ${words.isDangerous ? 'is-danger' : ''}`}
          disabled={!isSure || progress.is === 'Sent'}
        >
          {progress.is === 'Sent' ? 'Waiting for the answer' : words.verb}
        </button>
      </div>
    </form>
  );
}

/** Null: the JobSet has nothing that it could be done to. */
function actionOf(kind: ActionKind, epoch: number | null, timeout: TimeoutChoice): Action | null {
  switch (kind) {
    case 'Restart':
      return epoch === null ? null : { kind, epoch };
    case 'SetTimeout': {
      const { annotation, value } = timeout;
      const text = value.trim();
      return annotation === '' ? null : { kind, annotation, value: text === '' ? null : text };
    }
    case 'Suspend':
    case 'Resume':
    case 'Delete':
      return { kind };
  }
}

const PROBLEMS = {
  Refused: 'Nothing was done.',
  Unanswered: 'There was no answer, so it may have been done.',
} as const;

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
