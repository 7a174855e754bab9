/** What the page needs of its browser: streams from the server, requests to it, and time. */

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
  return answerOf(await fetch(path, { headers: { accept: 'application/json' } }));
}

/** Rejects as `getJson` does. */
export async function postJson<Answer>(path: string, body: unknown): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  return answerOf(await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }));
}

async function answerOf<Answer>(response: Response): Promise<Answer> {
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
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
