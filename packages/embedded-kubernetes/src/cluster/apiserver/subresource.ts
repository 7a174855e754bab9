/** Finds the handlers of subresources. */

import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { notFound, unknownResource } from '@lockstep/kube/status-errors.ts';
import type { ResourceCall } from './calls/resource-call.ts';
import { bindPod } from './pods/pod-binding.ts';
import { evictPod } from './pods/pod-eviction.ts';
import { podLog } from './pods/pod-log.ts';
import { attachToPod, execInPod, forwardPorts } from './pods/pod-streams.ts';
import { requestToken } from './reviews/token-request.ts';

/** Answers a request to a subresource that is not a view of the object. */
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
