/** Binds Pods to nodes. */
import { assert } from '@lockstep/kube/assert.ts';
import { formatFieldErrors, notSupported, required } from '@lockstep/kube/field-error.ts';
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { type FieldError, failureWithoutReason } from '@lockstep/kube/status.ts';
import { badRequest, conflict } from '@lockstep/kube/status-errors.ts';
import { timeText } from '@lockstep/kube/time.ts';
import { receiveSubresource } from '../admission/received-subresource.ts';
import type { ResourceCall } from '../calls/resource-call.ts';
import { successStatus } from '../http/request.ts';
import { isDryRun } from '../http/write-options.ts';
import {
  type ApiObject,
  listAt,
  objectAt,
  type StoredObject,
  textAt,
} from '../resources/api-object.ts';
import { update } from '../verbs/update.ts';

const BINDING_KIND = { group: '', version: 'v1', kind: 'Binding' };

/** `POST pods/NAME/binding`: assigns a Pod without a node to one, as a scheduler does. */
export async function bindPod(call: ResourceCall): Promise<HttpResponse> {
  const { server, of, path, request } = call;
  const binding = await receiveSubresource(call, BINDING_KIND);
  const name = path.name ?? '';
  if (binding.metadata.name !== name) {
    throw badRequest('name in URL does not match name in Binding object');
  }
  const errors = bindingErrors(binding);
  if (errors.length > 0) throw failureWithoutReason(formatFieldErrors(errors));
  const node = textAt(binding, 'target', 'name');
  await update(server, {
    of,
    namespace: path.namespace,
    name,
    subresource: 'binding',
    mode: 'Patch',
    transform: (pod) => boundTo(node, pod, binding, timeText(server.clock.now())),
    isDryRun: isDryRun(request.query, 'CreateOptions'),
    requester: undefined,
  });
  return successStatus(201);
}

function bindingErrors(binding: ApiObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const kind = textAt(binding, 'target', 'kind');
  if (kind !== '' && kind !== 'Node') {
    errors.push(notSupported('target.kind', kind, ['Node', '<empty>']));
  }
  if (textAt(binding, 'target', 'name') === '') errors.push(required('target.name'));
  return errors;
}

function boundTo(
  node: string,
  pod: StoredObject | undefined,
  binding: ApiObject,
  now: string,
): ApiObject {
  assert(pod !== undefined, 'a binding is for a Pod that exists');
  const { name } = pod.metadata;
  const refuse = (why: string): Error =>
    conflict({ group: '', plural: 'pods/binding' }, name, `pod ${name} ${why}`);
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw refuse('is being deleted, cannot be assigned to a host');
  }
  const assigned = textAt(pod, 'spec', 'nodeName');
  if (assigned !== '') throw refuse(`is already assigned to node "${assigned}"`);
  if (listAt(pod, 'spec', 'schedulingGates').length > 0) {
    throw refuse('has non-empty .spec.schedulingGates');
  }
  const annotations = { ...pod.metadata.annotations, ...binding.metadata.annotations };
  const labels = { ...pod.metadata.labels, ...binding.metadata.labels };
  const others = listAt(pod, 'status', 'conditions').filter(
    (condition) => textAt(condition, 'type') !== 'PodScheduled',
  );
  const scheduled = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: now,
  };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
    },
    spec: { ...objectAt(pod, 'spec'), nodeName: node },
    status: { ...objectAt(pod, 'status'), conditions: [...others, scheduled] },
  };
}
