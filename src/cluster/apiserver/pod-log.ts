import { forbiddenField, invalid, invalidValue } from '../../kube/field-error.ts';
import { isJsonObject } from '../../kube/json-value.ts';
import type { Node } from '../../kube/node.ts';
import type { Pod } from '../../kube/pod.ts';
import { type ApiStatusError, type FieldError, failure } from '../../kube/status.ts';
import { badRequest, internalError, notFound } from '../../kube/status-errors.ts';
import {
  type HttpResponse,
  type Transport,
  TransportError,
} from '../../runtime/ports/transport.ts';
import { typed } from './api-object.ts';
import { booleanOption, integerOption } from './list-options.ts';
import type { OpenStreams } from './open-streams.ts';
import { bytesResponse } from './request.ts';
import { presentEntry, type ResourceCall } from './resource-call.ts';

/** `GET pods/NAME/log`: what the node agent answers, as it answers it. */
export async function podLog(call: ResourceCall): Promise<HttpResponse> {
  const { server, request } = call;
  const pod = typed<Pod>(presentEntry(call).object);
  const container = containerOf(pod, request.query.get('container') ?? '');
  const query = logQuery(pod, request.query);
  const { nodeName = '' } = pod.spec;
  if (nodeName === '') return { status: 204, headers: {}, body: new Uint8Array() };
  const nodes = server.resources.core('nodes');
  const entry = nodes.collection.get(nodeName);
  if (entry === undefined) throw notFound(call.of, nodeName);
  if (server.kubelet === undefined) throw internalError(`there is no way to node ${nodeName}`);
  const { namespace = '', name = '' } = pod.metadata;
  const path = `/containerLogs/${namespace}/${name}/${container}${query === '' ? '' : `?${query}`}`;
  const kubelet = server.kubelet(typed<Node>(entry.object));
  try {
    return await relay(kubelet, path, request.signal, server.streams);
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    throw internalError(`Get ${JSON.stringify(path)} of node ${nodeName}: ${error.message}`, error);
  }
}

/** Passes an answer on for as long as the client reads and the server runs. */
async function relay(
  kubelet: Transport,
  path: string,
  client: AbortSignal,
  streams: OpenStreams,
): Promise<HttpResponse> {
  const exchange = new AbortController();
  let forget = (): void => undefined;
  const abort = (): void => {
    exchange.abort();
    forget();
  };
  forget = streams.add(abort);
  client.addEventListener('abort', abort, { once: true });
  try {
    const { signal } = exchange;
    const response = await kubelet.send({ method: 'GET', path, headers: {}, signal });
    if (response.status >= 300) throw await refusalOf(response);
    const { body } = response;
    if (!(body instanceof Uint8Array)) {
      return bytesResponse(200, 'text/plain', relayed(body, forget));
    }
    forget();
    return bytesResponse(200, 'text/plain', body);
  } catch (error) {
    forget();
    throw error;
  }
}

async function* relayed(
  body: AsyncIterable<Uint8Array>,
  forget: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } finally {
    forget();
  }
}

const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container';

/** The container that is asked for, or the only one. */
function containerOf(pod: Pod, wanted: string): string {
  const names = (list: readonly { readonly name: string }[] | undefined): readonly string[] =>
    (list ?? []).map(({ name }) => name);
  const regular = names(pod.spec.containers);
  const { name: podName = '' } = pod.metadata;
  if (wanted !== '') {
    if ([...regular, ...names(pod.spec.initContainers)].includes(wanted)) return wanted;
    throw badRequest(`container ${wanted} is not valid for pod ${podName}`);
  }
  const [only, ...others] = regular;
  if (only !== undefined && others.length === 0) return only;
  const chosen = pod.metadata.annotations?.[DEFAULT_CONTAINER];
  if (chosen !== undefined && regular.includes(chosen)) return chosen;
  const init = names(pod.spec.initContainers);
  const choice = `choose one of: [${regular.join(' ')}]`;
  const all =
    init.length === 0 ? choice : `${choice} or one of the init containers: [${init.join(' ')}]`;
  throw badRequest(`a container name must be specified for pod ${podName}, ${all}`);
}

/** The options that the node agent understands, checked as `PodLogOptions`. */
function logQuery(pod: Pod, query: URLSearchParams): string {
  const checked = new URLSearchParams();
  for (const flag of ['follow', 'previous', 'timestamps']) {
    if (booleanOption(query, flag) === true) checked.set(flag, 'true');
  }
  const errors: FieldError[] = [];
  for (const [option, least] of INTEGER_OPTIONS) {
    const value = integerOption(query, option);
    if (value === undefined) continue;
    if (value < least) errors.push(invalidValue(option, value, atLeast(least)));
    checked.set(option, String(value));
  }
  const sinceTime = query.get('sinceTime') ?? '';
  if (sinceTime !== '') {
    if (Number.isNaN(Date.parse(sinceTime))) throw badRequest(`sinceTime: ${sinceTime} is no time`);
    if (checked.has('sinceSeconds')) {
      const why = 'at most one of `sinceTime` or `sinceSeconds` may be specified';
      errors.push(forbiddenField('[]', why));
    }
    checked.set('sinceTime', sinceTime);
  }
  if (errors.length > 0) {
    throw invalid({ group: '', kind: 'PodLogOptions' }, pod.metadata.name ?? '', errors);
  }
  return checked.toString();
}

const INTEGER_OPTIONS: readonly (readonly [string, number])[] = [
  ['tailLines', 0],
  ['sinceSeconds', 1],
  ['limitBytes', 1],
];

function atLeast(least: number): string {
  return least === 0 ? 'must be greater than or equal to 0' : 'must be greater than 0';
}

/** Read of what a node agent says when it refuses. */
const MAX_REFUSAL_BYTES = 4_096;

async function refusalOf(response: HttpResponse): Promise<ApiStatusError> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (response.body instanceof Uint8Array) chunks.push(response.body);
  else {
    for await (const chunk of response.body) {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (size >= MAX_REFUSAL_BYTES) break;
    }
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_REFUSAL_BYTES).toString().trim();
  const message = messageIn(text);
  switch (response.status) {
    case 400:
      return badRequest(message);
    case 404:
      return failure('NotFound', message);
    default:
      return internalError(message);
  }
}

function messageIn(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value) && typeof value['message'] === 'string') return value['message'];
  } catch {
    // Most node agents answer in plain text.
  }
  return text;
}
