/**
 * Finds the address of a webhook: its URL, or a Service's EndpointSlices, as API servers without a
 * service network do. The embedded cluster writes no EndpointSlices itself, so a Service works only
 * if its owner publishes its address.
 */
import type { WebhookClientConfig } from '@lockstep/kube/objects/admission-webhooks.ts';
import { quote } from '@lockstep/kube/quote.ts';
import { listAt, numberAt, objectAt, textAt, valueAt } from '../resources/api-object.ts';
import type { ResourceTable } from '../resources/resource-table.ts';
import { collectionKey } from '../resources/served-resource.ts';

/** What is needed to connect to a webhook. */
export interface WebhookEndpoint {
  /** `https://host:port` */
  readonly server: string;
  /** The name in the certificate, if it is not the host of `server`. */
  readonly serverName: string | undefined;
  /** PEM; undefined: the system's authorities. */
  readonly certificateAuthority: string | undefined;
}

export interface WebhookAddress {
  readonly endpoint: WebhookEndpoint;
  /** The URL for messages, path included. */
  readonly url: string;
  readonly path: string;
}

/** A webhook cannot be reached; the message goes to the client. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

export function addressOf(config: WebhookClientConfig): WebhookAddress {
  const { service, caBundle = '' } = config;
  const certificateAuthority =
    caBundle === '' ? undefined : Buffer.from(caBundle, 'base64').toString();
  if (service === undefined) {
    const { protocol, host, pathname } = new URL(config.url ?? '');
    const server = `${protocol}//${host}`;
    const endpoint = { server, serverName: undefined, certificateAuthority };
    return { endpoint, url: server + pathname, path: pathname };
  }
  const { namespace, name, port = HTTPS_PORT, path = '' } = service;
  const serverName = `${name}.${namespace}.svc`;
  const server = `https://${serverName}:${port}`;
  const absolute = path.startsWith('/') ? path : `/${path}`;
  const endpoint = { server, serverName, certificateAuthority };
  return { endpoint, url: server + absolute, path: absolute };
}

/** The endpoint itself, or for a Service one that is ready. Throws `UnreachableError`. */
export function resolved(
  config: WebhookClientConfig,
  { endpoint }: WebhookAddress,
  resources: ResourceTable,
): WebhookEndpoint {
  const { service } = config;
  if (service === undefined) return endpoint;
  const { namespace, name, port = HTTPS_PORT } = service;
  const known = resources.core('services').collection.get(collectionKey(namespace, name));
  if (known === undefined) throw new UnreachableError(`service ${quote(name)} not found`);
  const wanted = listAt(known.object, 'spec', 'ports').find(
    (each) => numberAt(each, 'port') === port,
  );
  if (wanted === undefined) {
    throw new UnreachableError(`no service port ${port} found for service ${quote(name)}`);
  }
  const slices = resources.get('discovery.k8s.io', 'v1', 'endpointslices')?.collection;
  for (const { object } of slices?.entries(`${namespace}/`) ?? []) {
    if (object.metadata.labels?.['kubernetes.io/service-name'] !== name) continue;
    const ready = listAt(object, 'endpoints').find(isReady);
    const open = listAt(object, 'ports').find(
      (each) => textAt(each, 'name') === textAt(wanted, 'name'),
    );
    const [address] = listAt(ready, 'addresses');
    if (typeof address !== 'string' || open === undefined) continue;
    const host = address.includes(':') ? `[${address}]` : address;
    return { ...endpoint, server: `https://${host}:${numberAt(open, 'port')}` };
  }
  throw new UnreachableError(`no endpoints available for service ${quote(name)}`);
}

const HTTPS_PORT = 443;

/** An endpoint is ready unless it says otherwise. */
function isReady(endpoint: unknown): boolean {
  return valueAt(objectAt(endpoint, 'conditions'), 'ready') !== false;
}
