/** A button that copies a text, and says that it has. */
import { useEffect, useState } from 'preact/hooks';
import { after, copyText } from '../adapters/browser.ts';

export interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for those who do not see where the button stands: `the command`. */
  readonly what: string;
}

const SAID_MS = 2000;

export function CopyButton({ text, what }: CopyButtonProps) {
  const [said, say] = useState('');
  useEffect(() => (said === '' ? undefined : after(SAID_MS, () => say(''))), [said]);
  const copy = (): void => {
    copyText(text).then(
      () => say('Copied'),
      () => say('Copy it by hand'),
    );
  };
  return (
    <button type="button" class="button" onClick={copy}>
      <span aria-live="polite">{said || 'Copy'}</span>
      <span class="visually-hidden"> {what}</span>
    </button>
  );
}
