/** The DNS of the cluster: Services, and the host names of Pods behind headless ones. Addresses of version 4 only. */
import { createSocket, type Socket } from 'node:dgram';
import { SERVICES, type Service } from '@lockstep/kube/objects/core.ts';
import {
  ENDPOINT_SLICES,
  type EndpointSlice,
  SERVICE_NAME,
} from '@lockstep/kube/objects/endpoint-slice.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createInformer } from '@lockstep/kube/runtime/informer/create-informer.ts';
import { PORTS } from '../../src/cli/ports.ts';

const PORT = 53;
const DOMAIN = 'svc.cluster.local';
const HEADER_BYTES = 12;
/** The end of the name, the type and the class. */
const QUESTION_END_BYTES = 5;
const TYPE_A = 1;
/** Authoritative, with recursion; and the same for a name that does not exist. */
const FLAGS = { found: 0x85_80, missing: 0x85_83 };
const TTL_SECONDS = 1;

/** Answers until the process ends. */
export async function serveClusterDns(client: Client, address: string): Promise<void> {
  const services = createInformer({ ...PORTS, client, resource: SERVICES });
  const slices = createInformer({ ...PORTS, client, resource: ENDPOINT_SLICES });
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address: to }) => {
    const question = questionOf(query);
    if (question === undefined) return;
    const { name, type, end } = question;
    const found = addressesOf(name, [...services.store.values()], [...slices.store.values()]);
    socket.send(answerTo(query, end, type === TYPE_A ? found : found && []), port, to);
  });
  await bound(socket, address);
}

function bound(socket: Socket, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(PORT, address, resolve);
  });
}

/** Undefined if there is no such name. */
function addressesOf(
  name: string,
  services: readonly Service[],
  slices: readonly EndpointSlice[],
): readonly string[] | undefined {
  for (const { metadata, spec } of services) {
    const service = `${metadata.name}.${metadata.namespace}.${DOMAIN}`;
    if (name !== service && !name.endsWith(`.${service}`)) continue;
    if (spec?.clusterIP !== 'None') return name === service ? [spec?.clusterIP ?? ''] : undefined;
    const host = name.slice(0, -service.length - 1);
    const ready = slices
      .filter(
        (slice) =>
          slice.metadata.namespace === metadata.namespace &&
          slice.metadata.labels?.[SERVICE_NAME] === metadata.name,
      )
      .flatMap(({ endpoints }) => (endpoints ?? []) as readonly NamedEndpoint[])
      .filter(
        ({ conditions, hostname }) =>
          conditions?.ready !== false && (host === '' || host === hostname),
      )
      .flatMap(({ addresses }) => addresses);
    return ready.length > 0 || host === '' ? ready : undefined;
  }
  return undefined;
}

type NamedEndpoint = EndpointSlice['endpoints'][number] & { readonly hostname?: string };

function questionOf(query: Buffer) {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += length + 1;
  }
  const end = at + QUESTION_END_BYTES;
  if (end > query.length) return undefined;
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end };
}

function answerTo(query: Buffer, end: number, addresses: readonly string[] | undefined): Buffer {
  const header = Buffer.from(query.subarray(0, HEADER_BYTES));
  header.writeUInt16BE(addresses === undefined ? FLAGS.missing : FLAGS.found, 2);
  header.writeUInt16BE(addresses?.length ?? 0, 6);
  header.writeUInt32BE(0, 8);
  const records = (addresses ?? []).map((address) => {
    // The name is the question's, by its place in the message.
    const [type, klass] = [TYPE_A, 1];
    const bytes = address.split('.').map(Number);
    return Buffer.from([
      0xc0,
      HEADER_BYTES,
      0,
      type,
      0,
      klass,
      0,
      0,
      0,
      TTL_SECONDS,
      0,
      4,
      ...bytes,
    ]);
  });
  return Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...records]);
}
