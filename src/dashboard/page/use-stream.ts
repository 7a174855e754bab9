/** State that messages of the server build up. */
import { useEffect, useState } from 'preact/hooks';
import { followStream } from './adapters/browser.ts';

export interface Streamed<State> {
  readonly state: State;
  /** The server does not answer, so the state may be old. */
  readonly isLost: boolean;
}

/**
 * Follows the stream of `path`. After a break the server tells everything anew, and the page shows
 * what it knew until then. Messages that come before the next picture are drawn together.
 */
export function useStream<State, Message>(
  path: string,
  empty: State,
  step: (state: State, message: Message) => State,
): Streamed<State> {
  const [streamed, show] = useState<Streamed<State>>({ state: empty, isLost: false });
  useEffect(() => {
    let state = empty;
    let isLost = false;
    let frame: number | undefined;
    const draw = (): void => {
      frame ??= requestAnimationFrame(() => {
        frame = undefined;
        show({ state, isLost });
      });
    };
    show({ state, isLost });
    const close = followStream<Message>(path, {
      onOpen: () => {
        state = empty;
        isLost = false;
      },
      onMessage: (message) => {
        state = step(state, message);
        draw();
      },
      onLost: () => {
        isLost = true;
        draw();
      },
    });
    return () => {
      close();
      if (frame !== undefined) cancelAnimationFrame(frame);
    };
  }, [path]);
  return streamed;
}
