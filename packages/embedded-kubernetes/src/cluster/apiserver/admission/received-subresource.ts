import { kindSchema } from '../../../api-machinery/kind-schemas/kind-definitions.ts';
import { type ResourceCall, receiveBody, requesterOf } from '../calls/resource-call.ts';
import { isDryRun, optionsObject } from '../http/write-options.ts';
import type { ApiObject } from '../resources/api-object.ts';
import type { ReceivedKind } from '../resources/served-resource.ts';
import { type AdmissionAttributes, inNamespace } from '../webhooks/attributes.ts';
import { mutate, validate } from './admission-chain.ts';

/** The body of a POST to a subresource, an object of a built-in kind, as admission wants it. */
export async function receiveSubresource(
  call: ResourceCall,
  builtIn: Pick<ReceivedKind, 'group' | 'version' | 'kind'>,
): Promise<ApiObject> {
  const { server, of, path, request } = call;
  const kind = { ...builtIn, schema: kindSchema(builtIn), custom: false };
  const received = inNamespace(of, path.namespace, receiveBody(call, kind, 'CreateOptions'));
  const attributes = (object: ApiObject): AdmissionAttributes => ({
    operation: 'CREATE',
    of,
    subresource: path.subresource,
    kind,
    name: path.name ?? '',
    namespace: path.namespace,
    object,
    oldObject: undefined,
    isDryRun: isDryRun(request.query, 'CreateOptions'),
    requester: requesterOf(call, optionsObject('CreateOptions', request.query)),
  });
  const object = await mutate(server, attributes(received), received);
  await validate(server, attributes(object));
  return object;
}
