/** State that messages of the server build up. */
import { useEffect, useState } from 'preact/hooks';
import { followStream, now } from './adapters/browser.ts';

export interface Streamed<State> {
  readonly state: State;
  /** The server has begun to tell. */
  readonly isOpen: boolean;
  /** Since when the server does not answer, so that the state may be old; null: it does. */
  readonly lostSinceMs: number | null;
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
  const [streamed, show] = useState<Streamed<State>>({
    state: empty,
    isOpen: false,
    lostSinceMs: null,
  });
  useEffect(() => {
    let state = empty;
    let isOpen = false;
    let lostSinceMs: number | null = null;
    let frame: number | undefined;
    const draw = (): void => {
      frame ??= requestAnimationFrame(() => {
        frame = undefined;
        show({ state, isOpen, lostSinceMs });
      });
    };
    show({ state, isOpen, lostSinceMs });
    const close = followStream<Message>(path, {
      onOpen: () => {
        state = empty;
        isOpen = true;
        lostSinceMs = null;
      },
      onMessage: (message) => {
        state = step(state, message);
        draw();
      },
      onLost: () => {
        lostSinceMs ??= now();
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
