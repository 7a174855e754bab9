/**
 * By the time the promise resolves, every promise reaction that was ready, and every reaction to
 * those, has run, however long the chain. A message to oneself is the one way to wait for that
 * without a timer. It is no wait for files, sockets or timers.
 */
export function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    channel.port1.ref();
    channel.port2.postMessage(undefined);
  });
}

const waiting: (() => void)[] = [];
const channel = new MessageChannel();
channel.port1.on('message', () => {
  waiting.shift()?.();
  // The channel keeps the process alive only while somebody waits.
  if (waiting.length === 0) channel.port1.unref();
});
channel.port1.unref();
