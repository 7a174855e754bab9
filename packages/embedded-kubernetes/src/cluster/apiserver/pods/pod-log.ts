/** Serves the logs of Pods from the agents of their nodes. */
import { forbiddenField, invalid, invalidValue } from '@lockstep/kube/field-error.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import {
  type HttpResponse,
  type Transport,
  TransportError,
} from '@lockstep/kube/runtime/ports/transport.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { badRequest, internalError } from '@lockstep/kube/status-errors.ts';
import { presentEntry, type ResourceCall } from '../calls/resource-call.ts';
import type { OpenStreams } from '../http/open-streams.ts';
import { bytesResponse } from '../http/request.ts';
import { typed } from '../resources/api-object.ts';
import { booleanOption, integerOption } from '../verbs/list-options.ts';
import { containerOf, kubeletOf, refusalOf } from './pod-node.ts';

/** `GET pods/NAME/log`: relays the node agent's answer. */
export async function podLog(call: ResourceCall): Promise<HttpResponse> {
  const { server, request } = call;
  const pod = typed<Pod>(presentEntry(call).object);
  const container = containerOf(pod, request.query.get('container') ?? '');
  const query = logQuery(pod, request.query);
  const { nodeName = '' } = pod.spec;
  if (nodeName === '') return { status: 204, headers: {}, body: new Uint8Array() };
  const kubelet = kubeletOf(server, nodeName);
  const { namespace = '', name = '' } = pod.metadata;
  const path = `/containerLogs/${namespace}/${name}/${container}${query === '' ? '' : `?${query}`}`;
  try {
    return await relay(kubelet, path, request.signal, server.streams);
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    throw internalError(`Get ${JSON.stringify(path)} of node ${nodeName}: ${error.message}`, error);
  }
}

/** Relays an answer for as long as the client reads and the server runs. */
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
