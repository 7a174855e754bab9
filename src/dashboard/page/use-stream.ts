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
  const [streamed, show] = useState(() => nothingTold(empty));
  useEffect(() => {
    let told = nothingTold(empty);
    let isAnew = true;
    let frame: number | undefined;
    const tell = (change: Partial<Streamed<State>>): void => {
      told = { ...told, ...change };
      frame ??= requestAnimationFrame(() => {
        frame = undefined;
        show(told);
      });
    };
    show(told);
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
        tell({ isOpen: true, lostSinceMs: null, trouble: null });
      },
      onMessage: (message) => {
        tell({ state: step(isAnew ? empty : told.state, message) });
        isAnew = false;
      },
      onLost: () => tell({ lostSinceMs: told.lostSinceMs ?? now() }),
      onTrouble: (trouble) => tell({ trouble }),
    });
    return () => {
      close();
      if (frame !== undefined) cancelAnimationFrame(frame);
    };
  }, [path]);
  return streamed;
}

function nothingTold<State>(state: State): Streamed<State> {
  return { state, isOpen: false, lostSinceMs: null, trouble: null };
}
