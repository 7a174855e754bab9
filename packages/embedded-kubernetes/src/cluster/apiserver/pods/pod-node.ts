/** Reaches the agent of a Pod's node, and turns its refusals into refusals of the API server. */
import { parsedObject } from '@lockstep/kube/json/parsed-json.ts';
import type { Node } from '@lockstep/kube/objects/node.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { HttpResponse, Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import { type ApiStatusError, failure } from '@lockstep/kube/status.ts';
import { badRequest, internalError, notFound } from '@lockstep/kube/status-errors.ts';
import type { ServerState } from '../calls/server-state.ts';
import { typed } from '../resources/api-object.ts';

/** A transport to the agent of the node with this name. */
export function kubeletOf(server: ServerState, nodeName: string): Transport {
  const nodes = server.resources.core('nodes');
  const entry = nodes.collection.get(nodeName);
  if (entry === undefined) throw notFound(nodes, nodeName);
  if (server.kubelet === undefined) throw internalError(`there is no way to node ${nodeName}`);
  return server.kubelet(typed<Node>(entry.object));
}

const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container';

/** The container that is asked for, or the only one. */
export function containerOf(pod: Pod, wanted: string): string {
  const names = (list: readonly { readonly name: string }[] | undefined): readonly string[] =>
    (list ?? []).map(({ name }) => name);
  const regular = names(pod.spec.containers);
  const { name: podName = '' } = pod.metadata;
  if (wanted !== '') {
    const { initContainers, ephemeralContainers } = pod.spec;
    const all = [...regular, ...names(initContainers), ...names(ephemeralContainers)];
    if (all.includes(wanted)) return wanted;
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

/** How much of a node agent's refusal is read. */
const MAX_REFUSAL_BYTES = 4_096;

/** Turns a refusal of the node's agent into one of this server. */
export async function refusalOf(response: HttpResponse): Promise<ApiStatusError> {
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
  // Most node agents answer in plain text.
  const message = parsedObject(text)?.['message'];
  if (typeof message === 'string') return message;
  return text;
}
