/** How an open page gets a new session from a server that was started again. */
import { PASS, RENEW, START } from '../../messages/paths.ts';
import { type Pass, proofText, type Renewal, type ServerStart } from '../../messages/session.ts';

const TIMEOUT_MS = 10_000;

/**
 * In this memory only. What a browser stores for an address, it gives to the page of anyone who takes
 * the port while no server of ours listens there.
 */
let pass: Pass | undefined;

/** Asks for the pass, once, when the page is loaded. Without it, a restart of the server ends the session. */
export async function keepPass(): Promise<void> {
  pass = await getJson<Pass>(PASS).catch(() => undefined);
}

/** Asks again, with a new session, if the server does not know the one that this browser has. */
export async function withSession(ask: () => Promise<Response>): Promise<Response> {
  const response = await ask();
  return response.status === 401 && (await isRenewed().catch(() => false)) ? ask() : response;
}

async function isRenewed(): Promise<boolean> {
  if (pass === undefined) return false;
  const { id, secret } = pass;
  const { start } = await getJson<ServerStart>(START);
  const renewal: Renewal = { id, proof: await proofOf(secret, proofText(location.host, start)) };
  return (await postJson(RENEW, renewal, TIMEOUT_MS)).ok;
}

/** Rejects if the server does not answer, or refuses. */
export async function getJson<Answer>(path: string): Promise<Answer> {
  const headers = { accept: 'application/json' };
  const response = await fetch(path, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  return (await response.json()) as Answer;
}

export async function postJson(path: string, body: object, timeoutMs: number): Promise<Response> {
  return fetch(path, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  });
}

async function proofOf(secret: string, text: string): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const raw = encoder.encode(secret);
  const key = await crypto.subtle.importKey('raw', raw, algorithm, false, ['sign']);
  const signature = new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text)));
  return btoa(String.fromCharCode(...signature))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
