/** What the page needs of its browser: streams, requests, the clipboard, what it keeps, and time. */

export interface StreamHandlers<Message> {
  /** A stream has begun, for the first time or again: everything is told anew. */
  readonly onOpen: () => void;
  readonly onMessage: (message: Message) => void;
  /** The server does not answer. The stream tries again until it is closed. */
  readonly onLost: () => void;
}

/** Pause before a stream that the server has refused is opened again. */
const REOPEN_MS = 2000;

/** Follows a stream of the server until the returned function is called. */
export function followStream<Message>(
  path: string,
  { onOpen, onMessage, onLost }: StreamHandlers<Message>,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let source: EventSource;
  const open = (): void => {
    source = new EventSource(path);
    source.addEventListener('open', onOpen);
    source.addEventListener('message', ({ data }) => {
      onMessage(JSON.parse(String(data)) as Message);
    });
    source.addEventListener('error', () => {
      onLost();
      // A browser gives up after an answer other than 200.
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, REOPEN_MS);
    });
  };
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}

/** Rejects if the server does not answer, or refuses. */
export async function getJson<Answer>(path: string): Promise<Answer> {
  const response = await fetch(path, { headers: { accept: 'application/json' } });
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  return (await response.json()) as Answer;
}

/** Rejects if the server does not answer with JSON; a refusal may be an answer. */
export async function postJson<Answer>(path: string, body: unknown): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  if (!isJson) throw new Error(`${response.status} ${response.statusText}`);
  return (await response.json()) as Answer;
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
