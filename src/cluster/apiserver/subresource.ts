import { notFound, unknownResource } from '../../kube/status-errors.ts';
import type { HttpResponse } from '../../runtime/ports/transport.ts';
import { bindPod } from './pod-binding.ts';
import { evictPod } from './pod-eviction.ts';
import { podLog } from './pod-log.ts';
import { attachToPod, execInPod, forwardPorts } from './pod-streams.ts';
import type { ResourceCall } from './resource-call.ts';
import { requestToken } from './token-request.ts';

/** Answers a request to a subresource that is no view of the object itself. */
export type SubresourceHandler = (call: ResourceCall) => Promise<HttpResponse>;

/** The handler of a subresource; undefined if it is read and written like the object. */
export function subresourceHandler({ of, path }: ResourceCall): SubresourceHandler | undefined {
  const { subresource } = path;
  if (subresource === undefined) return undefined;
  if (!of.subresources.some(({ name }) => name === subresource)) {
    throw of.custom ? notFound(of, path.name ?? '') : unknownResource();
  }
  return of.group === '' ? HANDLERS[`${of.plural}/${subresource}`] : undefined;
}

const HANDLERS: Readonly<Record<string, SubresourceHandler>> = {
  'pods/binding': bindPod,
  'pods/eviction': evictPod,
  'pods/attach': attachToPod,
  'pods/exec': execInPod,
  'pods/log': podLog,
  'pods/portforward': forwardPorts,
  'serviceaccounts/token': requestToken,
};
