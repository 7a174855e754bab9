/** A modal dialog with a heading. Escape and the button close it; the focus goes back. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

export interface DialogProps {
  readonly title: string;
  /** It was closed: leave it out of the page. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog class="dialog" ref={dialog} aria-labelledby={heading} onClose={onClose}>
      <div class="dialog-head">
        <h2 id={heading}>{title}</h2>
        <button type="button" class="button is-plain" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}
