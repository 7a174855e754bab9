import type { Transport } from '../../src/runtime/ports/transport.ts';
import { REQUESTS, type ScriptedRequest, WIDGET_REQUESTS, WIDGETS } from './api-requests.ts';

/** What one server answered to one request, without what differs from run to run. */
export interface RecordedAnswer {
  readonly name: string;
  readonly status: number;
  readonly warnings?: readonly string[];
  readonly body: unknown;
}

/** Calls with credentials of an administrator. */
export type Send = (request: ScriptedRequest) => Promise<{
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}>;

export function sendVia(transport: Transport): Send {
  return async ({ method, path, body, text, headers = {} }) => {
    const content = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await transport.send({
      method,
      path,
      headers: {
        accept: 'application/json',
        ...(content === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: content === undefined ? undefined : Buffer.from(content),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const chunks: Uint8Array[] = [];
    if (response.body instanceof Uint8Array) chunks.push(response.body);
    else for await (const chunk of response.body) chunks.push(chunk);
    return {
      status: response.status,
      headers: response.headers,
      text: Buffer.concat(chunks).toString(),
    };
  };
}

/** Plays the whole script against a server whose namespace `conformance` does not exist yet. */
export async function playScript(send: Send): Promise<readonly RecordedAnswer[]> {
  await prepare(send);
  const answers: RecordedAnswer[] = [];
  for (const request of REQUESTS) answers.push(await answerTo(send, request));
  await until(send, WIDGETS, 200);
  for (const request of WIDGET_REQUESTS) answers.push(await answerTo(send, request));
  return answers;
}

const REQUEST_TIMEOUT_MS = 10_000;
const MAX_POLLS = 200;
const POLL_MS = 50;

async function prepare(send: Send): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'conformance' } };
  await send({ name: '', method: 'POST', path: '/api/v1/namespaces', body: namespace });
  const accounts = '/api/v1/namespaces/conformance/serviceaccounts';
  // Where a controller makes it, this is refused.
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
  await send({ name: '', method: 'POST', path: accounts, body: account });
  await until(send, `${accounts}/default`, 200);
}

async function until(send: Send, path: string, status: number): Promise<void> {
  for (let poll = 0; poll < MAX_POLLS; poll++) {
    if ((await send({ name: '', method: 'GET', path })).status === status) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`${path} did not become ${status}`);
}

async function answerTo(send: Send, request: ScriptedRequest): Promise<RecordedAnswer> {
  const { status, headers, text } = await send(request);
  const warning = headers['warning'];
  return {
    name: request.name,
    status,
    ...(warning === undefined ? {} : { warnings: [warning] }),
    body: bodyOf(text),
  };
}

function bodyOf(text: string): unknown {
  try {
    return JSON.parse(text, withoutChance);
  } catch {
    return text;
  }
}

const ALWAYS_DIFFERENT = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'managedFields',
  'lastTransitionTime',
  'controller-uid',
  'batch.kubernetes.io/controller-uid',
]);

/** For `JSON.parse`. */
function withoutChance(key: string, value: unknown): unknown {
  if (ALWAYS_DIFFERENT.has(key)) return typeof value === 'string' ? '*' : undefined;
  return value;
}
