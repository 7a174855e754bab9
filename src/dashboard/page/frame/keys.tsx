/** The keys of the page, and the dialog that lists them. */
import { Fragment } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { keep, kept } from '../adapters/browser.ts';
import { Dialog } from '../elements/dialog.tsx';

type Keys = readonly (readonly [key: string, meaning: string])[];

const KEYS: Keys = [
  ['/', 'Go to the filter'],
  ['↓ ↑', 'From row to row'],
  ['Enter', 'Open what has the focus'],
  ['Esc', 'Close a dialog, or empty the filter'],
  ['g', 'All JobSets'],
  ['?', 'These keys'],
];

/** The keys of a page that plays a trace. */
export const PLAYER_KEYS: Keys = [
  ['← →', 'One event back, one on'],
  ['v', 'Go to the violation'],
  ['Esc', 'Close a dialog'],
  ['?', 'These keys'],
];

/** Who dictates to the browser may switch off what a single letter does. */
const OFF_KEPT_AS = 'lockstep-keys-off';

/** What keeps the keys that are pressed in it. A slider takes no text. */
const KEYS_STAY = 'input:not([type=range]), select, textarea, dialog';

/** Calls back for a key that is pressed alone, while nothing takes text and no dialog is open. */
export function useKey(key: string, callback: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (
        event.key !== key ||
        event.defaultPrevented ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey
      )
        return;
      const { target } = event;
      const isElsewhere = target instanceof HTMLElement && target.closest(KEYS_STAY) !== null;
      if (isElsewhere || document.querySelector('dialog[open]') !== null) return;
      if (kept(OFF_KEPT_AS) !== null) return;
      event.preventDefault();
      callback();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [key, callback]);
}

export function KeysButton({ keys = KEYS }: { readonly keys?: Keys | undefined }) {
  const [isOpen, open] = useState(false);
  const [isOff, switchOff] = useState(() => kept(OFF_KEPT_AS) !== null);
  const show = (): void => open(true);
  const change = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void => {
    keep(OFF_KEPT_AS, currentTarget.checked ? null : 'off');
    switchOff(!currentTarget.checked);
  };
  useKey('?', show);
  return (
    <>
      <button type="button" class="button is-plain" title="Keys (?)" onClick={show}>
        <span aria-hidden="true">?</span>
        <span class="visually-hidden">Keys</span>
      </button>
      {isOpen && (
        <Dialog title="Keys" onClose={() => open(false)}>
          <dl class="keys">
            {keys.map(([key, meaning]) => (
              <Fragment key={key}>
                <dt>
                  {key.split(' ').map((one) => (
                    <Fragment key={one}>
                      <kbd>{one}</kbd>{' '}
                    </Fragment>
                  ))}
                </dt>
                <dd>{meaning}</dd>
              </Fragment>
            ))}
          </dl>
          <label class="keys-switch">
            <input type="checkbox" checked={!isOff} onChange={change} /> Use these keys
          </label>
        </Dialog>
      )}
    </>
  );
}
