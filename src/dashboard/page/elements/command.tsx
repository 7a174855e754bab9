/** A command for a shell, with a button that copies it. */
import type { VNode } from 'preact';
import { CopyButton } from './copy-button.tsx';
import { shownLines } from './shown-text.ts';

/** UTF-16 code units. */
const COMMAND_LENGTH = 4000;

export interface CommandProps {
  readonly command: string;
}

/**
 * What is copied is what runs; what is shown has its control characters escaped. A command without
 * any, as `commandOf` makes them, is both.
 */
export function Command({ command }: CommandProps): VNode {
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
