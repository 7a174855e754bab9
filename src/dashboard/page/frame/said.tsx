/** What the page says of an action that is done: in a line that covers nothing and takes no focus. */
import { createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import { after } from '../adapters/browser.ts';

/** Long enough to be read twice; what it says shows on the page by then. */
const SAID_MS = 10_000;

export const Saying = createContext<(text: string) => void>(() => undefined);

/** Says a sentence to those who see the page, and to those who hear it. */
export function useSay(): (text: string) => void {
  return useContext(Saying);
}

export interface SaidProps {
  /** Empty: nothing. Another object says the same again. */
  readonly said: { readonly text: string };
  readonly close: () => void;
}

/** A region that is always there: screen readers tell what changes in it. */
export function Said({ said, close }: SaidProps) {
  useEffect(() => (said.text === '' ? undefined : after(SAID_MS, close)), [said]);
  return (
    <div class="said" role="status" aria-live="polite">
      {said.text !== '' && (
        <p class="said-text">
          <span>{said.text}</span>
          <button type="button" class="button is-plain" onClick={close}>
            Close
          </button>
        </p>
      )}
    </div>
  );
}
