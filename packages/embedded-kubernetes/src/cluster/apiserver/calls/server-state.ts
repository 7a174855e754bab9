/** The state that all verbs of the API server share. */

import type { Node } from '@lockstep/kube/objects/node.ts';
import { randomName } from '@lockstep/kube/runtime/ports/random.ts';
import type { RuntimePorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import type { OpenStreams } from '../http/open-streams.ts';
import type { TokenSigner } from '../identity/service-account-tokens.ts';
import type { ResourceTable } from '../resources/resource-table.ts';
import { collectionKey } from '../resources/served-resource.ts';
import type { StrategyContext } from '../resources/strategy.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

export interface ServerState extends RuntimePorts {
  readonly resources: ResourceTable;
  readonly tokenSigner: TokenSigner | undefined;
  readonly kubelet: ((node: Node) => Transport) | undefined;
  readonly streams: OpenStreams;
  readonly webhooks: Webhooks;
}

export function strategyContext(server: ServerState, uid = server.random.uuid()): StrategyContext {
  return {
    nowMs: server.clock.now(),
    uid,
    randomName: (length) => randomName(server.random, length),
    exists: (plural, namespace, name) =>
      server.resources.core(plural).collection.get(collectionKey(namespace, name)) !== undefined,
  };
}
