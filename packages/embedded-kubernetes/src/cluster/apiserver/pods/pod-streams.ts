/**
 * `pods/exec`, `pods/attach` and `pods/portforward`: the request goes to the agent of the Pod's node.
 * If that upgrades the connection, so does this server, and passes bytes between client and node.
 */
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { type HttpResponse, TransportError } from '@lockstep/kube/runtime/ports/transport.ts';
import { badRequest, internalError } from '@lockstep/kube/status-errors.ts';
import { presentEntry, type ResourceCall } from '../calls/resource-call.ts';
import { typed } from '../resources/api-object.ts';
import { booleanOption } from '../verbs/list-options.ts';
import { containerOf, kubeletOf, refusalOf } from './pod-node.ts';

export function execInPod(call: ResourceCall): Promise<HttpResponse> {
  return connect(call, (pod, { namespace, name }) => {
    const container = containerOf(pod, call.request.query.get('container') ?? '');
    const query = streamQuery(call.request.query);
    for (const word of call.request.query.getAll('command')) query.append('command', word);
    return `/exec/${namespace}/${name}/${container}?${query}`;
  });
}

export function attachToPod(call: ResourceCall): Promise<HttpResponse> {
  return connect(call, (pod, { namespace, name }) => {
    const container = containerOf(pod, call.request.query.get('container') ?? '');
    return `/attach/${namespace}/${name}/${container}?${streamQuery(call.request.query)}`;
  });
}

export function forwardPorts(call: ResourceCall): Promise<HttpResponse> {
  return connect(call, (_pod, { namespace, name }) => `/portForward/${namespace}/${name}`);
}

/** Names of the API's parameters and the kubelet's names for them. */
const STREAMS: readonly (readonly [string, string])[] = [
  ['stdin', 'input'],
  ['stdout', 'output'],
  ['stderr', 'error'],
  ['tty', 'tty'],
];

function streamQuery(query: URLSearchParams): URLSearchParams {
  const translated = new URLSearchParams();
  for (const [ours, kubelets] of STREAMS) {
    if (booleanOption(query, ours) === true) translated.set(kubelets, '1');
  }
  return translated;
}

async function connect(
  call: ResourceCall,
  pathOf: (pod: Pod, at: { readonly namespace: string; readonly name: string }) => string,
): Promise<HttpResponse> {
  const { server, request } = call;
  const pod = typed<Pod>(presentEntry(call).object);
  const { namespace = '', name = '' } = pod.metadata;
  const path = pathOf(pod, { namespace, name });
  const { nodeName = '' } = pod.spec;
  if (nodeName === '') throw badRequest(`pod ${name} does not have a host assigned`);
  if (request.headers['upgrade'] === undefined) throw badRequest('Upgrade request required');
  const kubelet = kubeletOf(server, nodeName);
  try {
    const { method, signal } = request;
    const headers = upgradeHeaders(request.headers);
    const response = await kubelet.send({ method, path, headers, signal });
    if (response.channel === undefined) throw await refusalOf(response);
    return response;
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    throw internalError(`error dialing backend: ${error.message}`, error);
  }
}

/** The headers that upgrade the connection; credentials are known here and not passed on. */
function upgradeHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const wanted = Object.entries(headers).filter(
    ([name]) =>
      name === 'upgrade' || name.startsWith('sec-websocket-') || name.startsWith('x-stream-'),
  );
  return { ...Object.fromEntries(wanted), connection: 'Upgrade' };
}
