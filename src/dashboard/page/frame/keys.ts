/** The keys of the page, and the dialog that lists them. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Dialog } from '../elements/dialog.ts';

const KEYS: readonly (readonly [key: string, meaning: string])[] = [
  ['/', 'Go to the filter'],
  ['↓ ↑', 'From row to row'],
  ['Enter', 'Open what has the focus'],
  ['Esc', 'Close a dialog, or empty the filter'],
  ['g', 'All JobSets'],
  ['?', 'These keys'],
];

/** Calls back for a key that is pressed alone, while nothing takes text and no dialog is open. */
export function useKey(key: string, callback: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey) return;
      const { target } = event;
      const takesText =
        target instanceof HTMLElement && target.closest('input, select, textarea, dialog') !== null;
      if (takesText || document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      callback();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [key, callback]);
}

export function KeysButton(): VNode {
  const [isOpen, open] = useState(false);
  const show = (): void => open(true);
  useKey('?', show);
  useKey('g', toOverview);
  return html`<button type="button" class="button is-plain" title="Keys (?)" onClick=${show}>
      <span aria-hidden="true">?</span><span class="visually-hidden">Keys</span>
    </button>
    ${
      isOpen &&
      html`<${Dialog} title="Keys" onClose=${() => open(false)}>
        <dl class="keys">
          ${KEYS.map(
            ([key, meaning]) => html`<dt key=${key}>
                ${key.split(' ').map((one) => html`<kbd key=${one}>${one}</kbd> `)}
              </dt>
              <dd>${meaning}</dd>`,
          )}
        </dl>
      </${Dialog}>`
    }`;
}

function toOverview(): void {
  location.hash = '#/';
}
