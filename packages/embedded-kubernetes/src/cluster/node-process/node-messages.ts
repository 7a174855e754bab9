/** The messages between the process of a node and its parent. */
import type { KeyPair } from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import type { NodeDescription } from '../local-nodes.ts';
import type { AgentMessage, KeeperMessage } from './process-messages.ts';

export interface NodeConfiguration extends NodeDescription {
  readonly stateDirectory: string;
  /** The PATH of containers. */
  readonly path: string;
  /** `https://127.0.0.1:PORT` of the API server. */
  readonly server: string;
  /** PEM of the authority that signed the certificates of the server and its clients. */
  readonly authority: string;
  readonly credentials: KeyPair;
  /** How often the node renews its Lease. */
  readonly leaseRenewalMs: number;
  /** The node's own address in an earlier run, taken again if it is free. */
  readonly hostIP: string | undefined;
}

export type ToNode =
  | { readonly type: 'configure'; readonly configuration: NodeConfiguration }
  | { readonly type: 'certificate'; readonly pair: KeyPair }
  /** Ends all Pods, then the process. */
  | { readonly type: 'stop' }
  | { readonly type: 'keeper'; readonly message: KeeperMessage };

export type FromNode =
  /** Asks for a certificate for the kubelet's port at this address. */
  | { readonly type: 'certificate'; readonly address: string }
  | { readonly type: 'ready'; readonly hostIP: string }
  | { readonly type: 'keeper'; readonly message: AgentMessage };
