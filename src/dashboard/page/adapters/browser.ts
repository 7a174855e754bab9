/** What the page needs of its browser: streams, requests, the clipboard, what it keeps, and time. */
import type { ActionAnswer, ActionRequest } from '../../messages/action.ts';
import { ACTIONS } from '../../messages/paths.ts';
import type { ConnectionHandlers } from '../keep-stream.ts';
import { postJson, withSession } from './session.ts';

/** The server has bounds of its own, which are shorter. */
const ANSWER_TIMEOUT_MS = 60_000;

/**
 * Streams that all tabs and windows of this browser hold together. Browsers open six connections to
 * one server, and the last one is for pages that load and for actions.
 */
const MAX_STREAMS = 5;

/** Opens the stream of a path; returns what closes it. */
export function connectStream<Message>(
  path: string,
  { onOpen, onMessage, onLost, onRefused, onBusy }: ConnectionHandlers<Message>,
): () => void {
  let isClosed = false;
  let release = (): void => undefined;
  let source: EventSource | undefined;
  const open = (): void => {
    source = new EventSource(path);
    source.addEventListener('open', onOpen);
    source.addEventListener('message', ({ data }) => {
      onMessage(JSON.parse(String(data)) as Message);
    });
    source.addEventListener('error', () => {
      // A browser gives up after an answer other than 200, and does not say which one it was.
      if (source?.readyState === EventSource.CLOSED) onRefused();
      else onLost();
    });
  };
  takeSlot().then(
    (free) => {
      release = free ?? release;
      if (isClosed) release();
      else if (free === null) onBusy();
      else open();
    },
    // Without locks, windows do not know of each other.
    () => isClosed || open(),
  );
  return () => {
    isClosed = true;
    source?.close();
    release();
  };
}

/** Resolves with what gives the slot back; null: all are taken. A tab that ends gives back its own. */
async function takeSlot(): Promise<(() => void) | null> {
  for (let slot = 0; slot < MAX_STREAMS; slot++) {
    const release = await new Promise<(() => void) | null>((resolve, reject) => {
      const work = async (lock: Lock | null): Promise<void> => {
        if (lock === null) resolve(null);
        else await new Promise<void>((free) => resolve(() => free()));
      };
      const options = { ifAvailable: true };
      navigator.locks.request(`lockstep-stream-${slot}`, options, work).catch(reject);
    });
    if (release !== null) return release;
  }
  return null;
}

/** Why the server refuses a stream; null: it does not. Rejects if it does not answer. */
export async function refusalOf(path: string): Promise<string | null> {
  const stopping = new AbortController();
  const timer = setTimeout(() => stopping.abort(), ANSWER_TIMEOUT_MS);
  try {
    const options = { headers: { accept: 'text/plain' }, signal: stopping.signal };
    const response = await withSession(async () => fetch(path, options));
    return response.ok ? null : await response.text();
  } finally {
    clearTimeout(timer);
    stopping.abort();
  }
}

/** Asks for JSON. Rejects with what the server says, or if it does not answer. */
export async function askJson<Answer>(path: string): Promise<Answer> {
  const ask = async (): Promise<Response> =>
    fetch(path, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
  const response = await withSession(ask);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Answer;
}

/** Whether the tab can be seen. */
export function isVisible(): boolean {
  return !document.hidden;
}

/** Calls back when the tab is hidden or shown, until the returned function is called. */
export function onVisibility(callback: () => void): () => void {
  document.addEventListener('visibilitychange', callback);
  return () => document.removeEventListener('visibilitychange', callback);
}

/** Asks for an action. Rejects if the server does not answer: then it may have been done. */
export async function postAction(request: ActionRequest): Promise<ActionAnswer> {
  const ask = async (): Promise<Response> => postJson(ACTIONS, request, ANSWER_TIMEOUT_MS);
  const response = await withSession(ask);
  if (response.headers.get('content-type')?.startsWith('application/json') === true) {
    return (await response.json()) as ActionAnswer;
  }
  const why = await response.text();
  // Nothing is done for who may not ask.
  if (response.status >= 400 && response.status < 500) return { problem: why };
  throw new Error(`${response.status} ${response.statusText}`);
}

/** Puts a text into the clipboard. Rejects if the browser does not let it. */
export async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}

/** What this browser keeps for the page; null: nothing, or it keeps nothing. */
export function kept(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Keeps a text, or forgets it: null. A browser that keeps nothing is left alone. */
export function keep(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // The page works without.
  }
}

/** Unix milliseconds. */
export function now(): number {
  return Date.now();
}

/** Calls back again and again until the returned function is called. */
export function every(ms: number, callback: () => void): () => void {
  const timer = setInterval(callback, ms);
  return () => clearInterval(timer);
}

/** Calls back once, unless the returned function is called before. */
export function after(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}
