/** A command for a shell, with a button that copies it. */
import { CopyButton } from './copy-button.tsx';
import { shownLines } from './shown-text.ts';

/** UTF-16 code units. */
const COMMAND_LENGTH = 4000;

/**
 * What is copied is what runs; what is shown has its control characters escaped. A command without
 * any, as `commandOf` makes them, is both.
 */
export function Command({ command }: { readonly command: string }) {
  return (
    <div class="command">
      <code tabindex={0}>
        {shownLines(command, COMMAND_LENGTH)
          .split(/(\s+)/)
          .map((word) => (
            <span class={word.trim() && 'command-word'}>{word}</span>
          ))}
      </code>
      <CopyButton text={command} what="the command" />
    </div>
  );
}
