/** When a page holds a stream of the server: not while nobody can see it. */

export interface KeptHandlers<Message> {
  /** A stream has begun, for the first time or again: the server sends everything. */
  readonly onOpen: () => void;
  readonly onMessage: (message: Message) => void;
  /** The stream broke. It is opened again until it is closed. */
  readonly onLost: () => void;
  /** Why there is no stream, as a sentence: the server refuses, or no connection is free. */
  readonly onTrouble: (why: string | null) => void;
}

export interface ConnectionHandlers<Message>
  extends Pick<KeptHandlers<Message>, 'onOpen' | 'onMessage' | 'onLost'> {
  /** The server has answered with a refusal, so nobody tries again by itself. */
  readonly onRefused: () => void;
  /** Other tabs and windows hold all connections that there are. */
  readonly onBusy: () => void;
}

/** What a stream needs of a browser. */
export interface StreamPorts<Message> {
  /** Opens a connection; returns what closes it. */
  readonly connect: (handlers: ConnectionHandlers<Message>) => () => void;
  /** Asks the server why it refuses; null: it does no more, or does not say. */
  readonly askWhy: () => Promise<string | null>;
  readonly isVisible: () => boolean;
  /** Calls back when that changes, until the returned function is called. */
  readonly onVisibility: (callback: () => void) => () => void;
  readonly after: (ms: number, callback: () => void) => () => void;
}

/**
 * A browser opens six connections to one server, for all its tabs. A tab that is hidden longer gives
 * back its own; a look at another tab for a moment does not reconnect.
 */
export const HIDDEN_MS = 10_000;
/** Pause before a stream that the server has refused is opened again. */
export const REOPEN_MS = 2000;
/** How long a connection may take before the page says what may be wrong. */
export const SLOW_MS = 5000;

export const NO_ANSWER = 'The server has not answered yet.';
export const TOO_MANY_WINDOWS =
  'A browser opens six connections to one server, and other windows of this page hold them: close some.';

/** Follows a stream until the returned function is called. */
export function keepStream<Message>(
  ports: StreamPorts<Message>,
  handlers: KeptHandlers<Message>,
): () => void {
  let disconnect: (() => void) | undefined;
  let cancelHiding = (): void => undefined;
  let cancelWait = (): void => undefined;

  const close = (): void => {
    cancelWait();
    disconnect?.();
    disconnect = undefined;
  };
  const open = (): void => {
    close();
    cancelWait = ports.after(SLOW_MS, () => handlers.onTrouble(NO_ANSWER));
    const answered = (handle: () => void) => (): void => {
      cancelWait();
      handle();
    };
    const current = ports.connect({
      onMessage: handlers.onMessage,
      onOpen: answered(handlers.onOpen),
      onLost: answered(() => {
        handlers.onTrouble(null);
        handlers.onLost();
      }),
      onBusy: answered(() => {
        handlers.onTrouble(TOO_MANY_WINDOWS);
        cancelWait = ports.after(REOPEN_MS, open);
      }),
      onRefused: answered(() => {
        handlers.onLost();
        cancelWait = ports.after(REOPEN_MS, open);
        ports.askWhy().then(
          (why) => {
            if (why !== null && disconnect === current) handlers.onTrouble(why);
          },
          () => undefined,
        );
      }),
    });
    disconnect = current;
  };
  const look = (): void => {
    cancelHiding();
    if (!ports.isVisible()) cancelHiding = ports.after(HIDDEN_MS, close);
    else if (disconnect === undefined) open();
  };

  const leave = ports.onVisibility(look);
  if (ports.isVisible()) open();
  return () => {
    leave();
    cancelHiding();
    close();
  };
}
