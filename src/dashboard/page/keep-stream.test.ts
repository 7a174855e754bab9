import { expect, it } from 'vitest';
import {
  type ConnectionHandlers,
  HIDDEN_MS,
  keepStream,
  NO_ANSWER,
  REOPEN_MS,
  SLOW_MS,
  TOO_MANY_WINDOWS,
} from './keep-stream.ts';

/** A browser with one tab, whose time passes when a test says so. */
function browser({ isVisible = true, why = null as string | null } = {}) {
  let nowMs = 0;
  let look = (): void => undefined;
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  const open: ConnectionHandlers<string>[] = [];
  const told: string[] = [];
  const close = keepStream<string>(
    {
      connect: (handlers) => {
        open.push(handlers);
        return () => void open.splice(open.indexOf(handlers), 1);
      },
      askWhy: () => Promise.resolve(why),
      isVisible: () => isVisible,
      onVisibility: (callback) => {
        look = callback;
        return () => {
          look = () => undefined;
        };
      },
      after: (ms, callback) => {
        const timer = { atMs: nowMs + ms, callback };
        timers.add(timer);
        return () => void timers.delete(timer);
      },
    },
    {
      onOpen: () => void told.push('open'),
      onMessage: (message) => void told.push(message),
      onLost: () => void told.push('lost'),
      onTrouble: (text) => void told.push(text ?? 'nothing known'),
    },
  );
  return {
    open,
    told,
    timers,
    close,
    show: (shown: boolean) => {
      isVisible = shown;
      look();
    },
    pass: (ms: number) => {
      nowMs += ms;
      for (const timer of timers) {
        if (timer.atMs <= nowMs && timers.delete(timer)) timer.callback();
      }
    },
  };
}

it('gives back the connection of a tab that stays hidden, and opens one when it is seen', () => {
  const tab = browser();
  tab.open[0]?.onOpen();
  tab.show(false);
  tab.pass(HIDDEN_MS - 1);
  expect(tab.open).toHaveLength(1);
  tab.pass(1);
  expect(tab.open).toHaveLength(0);
  tab.pass(3_600_000);
  expect(tab.open).toHaveLength(0);
  tab.show(true);
  expect(tab.open).toHaveLength(1);
  expect(tab.told).toEqual(['open']);
});

it('keeps the connection of a tab that is hidden for a moment', () => {
  const tab = browser();
  const [first] = tab.open;
  first?.onOpen();
  tab.show(false);
  tab.pass(HIDDEN_MS - 1);
  tab.show(true);
  tab.pass(HIDDEN_MS);
  expect(tab.open).toEqual([first]);
});

it('opens none in a tab that is hidden from the beginning', () => {
  const tab = browser({ isVisible: false });
  expect(tab.open).toHaveLength(0);
  tab.show(true);
  expect(tab.open).toHaveLength(1);
});

it('waits for a connection that another window gives back', () => {
  const tab = browser();
  tab.open[0]?.onBusy();
  expect(tab.told).toEqual([TOO_MANY_WINDOWS]);
  tab.pass(REOPEN_MS);
  tab.open[0]?.onOpen();
  expect(tab.told).toEqual([TOO_MANY_WINDOWS, 'open']);
  tab.pass(SLOW_MS);
  expect(tab.told).toHaveLength(2);
});

it('says that the server takes long', () => {
  const tab = browser();
  tab.pass(SLOW_MS);
  expect(tab.told).toEqual([NO_ANSWER]);
  tab.open[0]?.onOpen();
  tab.open[0]?.onMessage('hello');
  expect(tab.told).toEqual([NO_ANSWER, 'open', 'hello']);
});

it('says why the server refuses, and asks it again', async () => {
  const tab = browser({ why: 'Open the address.' });
  tab.open[0]?.onRefused();
  await Promise.resolve();
  expect(tab.told).toEqual(['lost', 'Open the address.']);
  tab.pass(REOPEN_MS);
  expect(tab.open).toHaveLength(1);
  tab.open[0]?.onOpen();
  expect(tab.told.at(-1)).toBe('open');
});

it('asks again no more once it is hidden or closed', async () => {
  const tab = browser({ why: 'Open the address.' });
  tab.open[0]?.onRefused();
  tab.show(false);
  tab.pass(HIDDEN_MS);
  tab.pass(HIDDEN_MS + REOPEN_MS);
  expect(tab.open).toHaveLength(0);
  tab.show(true);
  tab.open[0]?.onRefused();
  tab.close();
  await Promise.resolve();
  expect(tab.open).toHaveLength(0);
  expect(tab.timers.size).toBe(0);
  tab.show(true);
  expect(tab.open).toHaveLength(0);
});

it('knows nothing of a server that does not answer any more', async () => {
  const tab = browser({ why: 'Open the address.' });
  tab.open[0]?.onRefused();
  await Promise.resolve();
  tab.open[0]?.onLost();
  expect(tab.told).toEqual(['lost', 'Open the address.', 'nothing known', 'lost']);
});
