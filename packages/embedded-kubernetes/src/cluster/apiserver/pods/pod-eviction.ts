/** Evicts Pods. */

import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { badRequest } from '@lockstep/kube/status-errors.ts';
import { receiveSubresource } from '../admission/received-subresource.ts';
import type { ResourceCall } from '../calls/resource-call.ts';
import { successStatus } from '../http/request.ts';
import { deleteOptions, remove } from '../verbs/delete.ts';

const EVICTION_KIND = {
  group: 'policy',
  version: 'v1',
  kind: 'Eviction',
};

/**
 * `POST pods/NAME/eviction`: a deletion that disruption budgets could refuse; there are none here.
 */
export async function evictPod(call: ResourceCall): Promise<HttpResponse> {
  const { server, of, path, request } = call;
  const eviction = await receiveSubresource(call, EVICTION_KIND);
  const name = path.name ?? '';
  if (eviction.metadata.name !== name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  const options = deleteOptions(eviction['deleteOptions'], request.query);
  await remove(server, of, { namespace: path.namespace, name }, options);
  return successStatus(201);
}
