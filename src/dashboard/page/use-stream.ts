/** State that messages of the server build up. */
import { useEffect, useState } from 'preact/hooks';
import {
  after,
  connectStream,
  isVisible,
  now,
  onVisibility,
  refusalOf,
} from './adapters/browser.ts';
import { type ConnectionHandlers, keepStream } from './keep-stream.ts';

export interface Streamed<State> {
  readonly state: State;
  /** The server has begun to tell. */
  readonly isOpen: boolean;
  /** Since when the server does not answer, so that the state may be old; null: it does. */
  readonly lostSinceMs: number | null;
  /** Why there is no stream, as a sentence, if more is known. */
  readonly trouble: string | null;
}

/**
 * Follows the stream of `path`. After a break the server sends everything again, and the page shows
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
    trouble: null,
  });
  useEffect(() => {
    let state = empty;
    let isAnew = true;
    let isOpen = false;
    let lostSinceMs: number | null = null;
    let trouble: string | null = null;
    let frame: number | undefined;
    const draw = (): void => {
      frame ??= requestAnimationFrame(() => {
        frame = undefined;
        show({ state, isOpen, lostSinceMs, trouble });
      });
    };
    show({ state, isOpen, lostSinceMs, trouble });
    const ports = {
      connect: (handlers: ConnectionHandlers<Message>) => connectStream(path, handlers),
      askWhy: async () => refusalOf(path),
      isVisible,
      onVisibility,
      after,
    };
    const close = keepStream<Message>(ports, {
      onOpen: () => {
        isAnew = true;
        isOpen = true;
        lostSinceMs = null;
        trouble = null;
        draw();
      },
      onMessage: (message) => {
        state = step(isAnew ? empty : state, message);
        isAnew = false;
        draw();
      },
      onLost: () => {
        lostSinceMs ??= now();
        draw();
      },
      onTrouble: (why) => {
        trouble = why;
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
