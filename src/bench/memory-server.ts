/** The embedded API server in memory, without sockets. */
import { createApiServer, MemoryStorage } from '@lockstep/embedded-kubernetes/in-memory';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import { handlerTransport } from '@lockstep/kube/runtime/memory/memory-transport.ts';
import { PORTS } from '../cli/ports.ts';

export interface MemoryServer {
  /** A client with an administrator's rights. */
  readonly client: Client;
  close(): Promise<void>;
}

export async function startMemoryServer(): Promise<MemoryServer> {
  const server = createApiServer({ ...PORTS, storage: new MemoryStorage() });
  await server.start();
  const certificate = { commonName: 'bench', organizations: ['system:masters'] };
  const transport = handlerTransport(server.handler, { address: '127.0.0.1', certificate });
  const client = createClient({ ...PORTS, transport, userAgent: 'lockstep-bench' });
  return { client, close: () => server.close() };
}
