/**
 * Plays the script of requests against an API server, and reduces the answers to what can be
 * compared.
 */

import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { parse } from 'yaml';
import { DEFINITIONS, SCRIPT } from './script.ts';
import { CUSTOM_GROUPS, type ScriptedRequest } from './scripted-request.ts';

/** One server's answer to one request, without what differs from run to run. */
export interface RecordedAnswer {
  readonly name: string;
  readonly status: number;
  readonly warnings?: readonly string[];
  readonly body: unknown;
}

/** Sends requests with an administrator's credentials. */
export type Send = (request: ScriptedRequest) => Promise<Answer>;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export function sendVia(transport: Transport): Send {
  return async ({ method, path, body, text, headers = {}, events }) => {
    const content = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const enough = new AbortController();
    const response = await transport.send({
      method,
      path,
      headers: {
        accept: 'application/json',
        ...(content === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: content === undefined ? undefined : Buffer.from(content),
      signal: AbortSignal.any([enough.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
    });
    const answer = await textOf(response.body, events ?? Number.POSITIVE_INFINITY);
    enough.abort();
    return { status: response.status, headers: response.headers, text: answer };
  };
}

/** The whole body, or the first lines of a watch. */
async function textOf(
  body: Uint8Array | AsyncIterable<Uint8Array>,
  lines: number,
): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const chunks: Uint8Array[] = [];
  let ends = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    ends += Buffer.from(chunk).toString().split('\n').length - 1;
    if (ends >= lines) break;
  }
  return Buffer.concat(chunks).toString();
}

/** Plays the whole script against a server whose namespace `conformance` does not exist yet. */
export async function playScript(send: Send): Promise<readonly RecordedAnswer[]> {
  await prepare(send);
  const answers: RecordedAnswer[] = [];
  let last: ListPlace = { continue: '', revision: '' };
  for (const { definition, served, requests } of SCRIPT) {
    if (definition !== undefined) {
      await send({ name: '', method: 'POST', path: DEFINITIONS, body: definition });
    }
    if (served !== undefined) await untilStatus(send, served, 200);
    for (const request of requests) {
      const path = request.path
        .replace('{continue}', last.continue)
        .replace('{revision}', last.revision);
      const answer = await send({ ...request, path });
      answers.push(recorded(request, answer));
      last = placeAfter(last, answer.text);
    }
  }
  return answers;
}

/**
 * Removes the script's objects, because controllers, nodes and operators that come later would act
 * on them.
 */
export async function removeTraces(send: Send): Promise<void> {
  for (const path of TRACES) await send({ name: '', method: 'DELETE', path });
  for (const path of TRACES) await untilStatus(send, path, 404, REMOVAL_TIMEOUT_MS);
}

const TRACES = [
  '/api/v1/namespaces/conformance',
  '/api/v1/namespaces/applied',
  `${DEFINITIONS}/widgets.conformance.example.com`,
];

/** The continue token of the last list, and its version. */
interface ListPlace {
  readonly continue: string;
  readonly revision: string;
}

function placeAfter(last: ListPlace, text: string): ListPlace {
  const match = /"metadata":\{"resourceVersion":"(\d+)"(?:,"continue":"([^"]+)")?/.exec(text);
  if (match === null || !text.includes('"items":')) return last;
  const [, revision = '', token = ''] = match;
  return { revision, continue: token === '' ? last.continue : token };
}

const REQUEST_TIMEOUT_MS = 10_000;
/** A namespace goes after its Pods and claims, which takes their controllers some seconds. */
const REMOVAL_TIMEOUT_MS = 60_000;

async function prepare(send: Send): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'conformance' } };
  await send({ name: '', method: 'POST', path: '/api/v1/namespaces', body: namespace });
  const accounts = '/api/v1/namespaces/conformance/serviceaccounts';
  // Refused if a controller has already made it.
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
  await send({ name: '', method: 'POST', path: accounts, body: account });
  await untilStatus(send, `${accounts}/default`, 200);
}

/** Asks until the answer has that status. */
async function untilStatus(
  send: Send,
  path: string,
  status: number,
  timeoutMs = REQUEST_TIMEOUT_MS,
): Promise<void> {
  const look = async (): Promise<boolean> =>
    (await send({ name: '', method: 'GET', path })).status === status;
  await until(`${path} gives ${status}`, look, timeoutMs);
}

function recorded(request: ScriptedRequest, { status, headers, text }: Answer): RecordedAnswer {
  const warning = headers['warning'];
  return {
    name: request.name,
    status,
    ...(warning === undefined ? {} : { warnings: [warning] }),
    body:
      request.events !== undefined && status === 200
        ? text
            .split('\n')
            .slice(0, request.events)
            .map((line) => bodyOf(line))
        : bodyOf(text, request.showsManagers),
  };
}

function bodyOf(text: string, showsManagers = false): unknown {
  try {
    const json = text.startsWith('{') ? text : JSON.stringify(parse(text));
    const body: unknown = JSON.parse(json, (key, value) =>
      showsManagers && key === 'managedFields' ? managers(value) : withoutChance(key, value),
    );
    return isJsonObject(body) ? withoutOrder(body) : body;
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
  'continue',
  'token',
  'expirationTimestamp',
]);
const UID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const AGE = /^\d+s$/;
const REVISION = /(?<=current: )\d+$/;
/** Descriptions that Kubernetes itself makes for the columns of a custom resource. */
const MADE_DESCRIPTION = /^Custom resource definition column/;

/**
 * A reviver for `JSON.parse`. Descriptions of built-in kinds' columns are prose, and we have our
 * own.
 */
function withoutChance(key: string, value: unknown): unknown {
  if (ALWAYS_DIFFERENT.has(key)) return typeof value === 'string' ? value && '*' : undefined;
  if (key === 'columnDefinitions' && Array.isArray(value)) return value.map(withoutProse);
  if (typeof value !== 'string') return value;
  return AGE.test(value) ? '<age>' : value.replaceAll(UID, '<uid>').replace(REVISION, '*');
}

/**
 * Times of managers are chance, and so is the order of those that changed the object in one second.
 */
function managers(entries: unknown): unknown {
  if (!Array.isArray(entries)) return entries;
  return entries
    .map((entry) => ({ ...entry, ...('time' in entry ? { time: '*' } : {}) }))
    .toSorted((a, b) => (nameOfManager(a) < nameOfManager(b) ? -1 : 1));
}

function nameOfManager({ manager, operation, apiVersion, subresource = '' }: JsonObject): string {
  return [operation, manager, apiVersion, subresource].join(' ');
}

function withoutProse(column: unknown): unknown {
  if (!isJsonObject(column)) return column;
  const { description } = column;
  const isMade = typeof description === 'string' && MADE_DESCRIPTION.test(description);
  return isMade ? column : { ...column, description: undefined };
}

/**
 * The problems of an object, each once, because Kubernetes names a problem twice if two of its
 * checks find it. The problems of a custom resource, and managers in conflict, are sorted, because
 * Kubernetes finds them in the random order of Go's maps.
 */
function withoutOrder(status: JsonObject): JsonObject {
  const { message, details } = status;
  const causes = isJsonObject(details) ? details['causes'] : undefined;
  if (typeof message !== 'string' || !isJsonObject(details) || !Array.isArray(causes))
    return status;
  const byText = new Map<string, unknown>();
  for (const cause of causes) {
    if (isJsonObject(cause)) byText.set(`${cause['field']}: ${cause['message']}`, cause);
  }
  const isCustom = CUSTOM_GROUPS.includes(String(details['group']));
  const isConflict = status['reason'] === 'Conflict';
  const texts = isCustom || isConflict ? [...byText.keys()].toSorted() : [...byText.keys()];
  const longestFirst = texts.toSorted((a, b) => b.length - a.length);
  const frame = longestFirst.reduce((rest, text) => rest.replace(text, () => '*'), message);
  return {
    ...status,
    message: isCustom ? [frame, ...texts] : message,
    details: { ...details, causes: texts.map((text) => byText.get(text)) },
  };
}
