import type { MessagePort } from './process-messages.ts';

/**
 * Two connected message ports in memory. Messages are copied, as between processes, and arrive in a
 * later turn.
 */
export function messagePair<A, B>(): readonly [MessagePort<A, B>, MessagePort<B, A>] {
  const handlers: { a?: (message: B) => void; b?: (message: A) => void } = {};
  return [
    {
      send: (message) => {
        const copy = structuredClone(message);
        queueMicrotask(() => handlers.b?.(copy));
      },
      onMessage: (handler) => {
        handlers.a = handler;
      },
    },
    {
      send: (message) => {
        const copy = structuredClone(message);
        queueMicrotask(() => handlers.a?.(copy));
      },
      onMessage: (handler) => {
        handlers.b = handler;
      },
    },
  ];
}
