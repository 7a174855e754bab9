/**
 * All nodes of an embedded cluster as processes, and the actions that `lockstep node` offers on
 * them.
 */

import type { KeyPair } from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { ProcessRunner } from '@lockstep/kube/runtime/ports/process-runner.ts';
import type { NodeDescription } from '../local-nodes.ts';
import { LEASE_RENEWAL_MS } from '../node/node-registration.ts';
import { NODE_MONITOR_GRACE_MS } from '../node-lifecycle/node-lifecycle.ts';
import { type NodeChild, NodeProcess } from './node-process.ts';

export interface NodeProcessesOptions {
  /** At least one. */
  readonly nodes: readonly NodeDescription[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Runs the processes of the Pods of all nodes. */
  readonly processes: ProcessRunner;
  readonly stateDirectory: string;
  /** The PATH of containers. */
  readonly path: string;
  readonly server: string;
  readonly authority: string;
  /** How long a node may be silent. */
  readonly nodeMonitorGraceMs?: number | undefined;
  readonly spawn: () => NodeChild;
  readonly issueClient: (node: string) => KeyPair;
  readonly issueServer: (node: string, address: string) => KeyPair;
}

export type NodeAction = 'kill' | 'stop' | 'start';

export const NODE_ACTIONS: readonly NodeAction[] = ['kill', 'stop', 'start'];

export class NodeProcesses {
  readonly #nodes: readonly NodeProcess[];

  constructor(options: NodeProcessesOptions) {
    const { stateDirectory, path, server, authority, issueServer } = options;
    this.#nodes = options.nodes.map(
      (node) =>
        new NodeProcess({
          ...options,
          configuration: {
            ...node,
            stateDirectory,
            path,
            server,
            authority,
            credentials: options.issueClient(node.name),
            leaseRenewalMs: leaseRenewalMs(options.nodeMonitorGraceMs),
            hostIP: undefined,
          },
          servingCertificate: (address) => issueServer(node.name, address),
        }),
    );
  }

  /** Resolves once all nodes are registered; they start side by side. */
  async start(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.start()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.stop()));
  }

  /** Process IDs of the running agents, by name of the node. */
  pids(): Readonly<Record<string, number>> {
    return Object.fromEntries(
      this.#nodes.flatMap(({ name, pid }) => (pid === undefined ? [] : [[name, pid]])),
    );
  }

  /**
   * `kill`: a loss of power. `stop`: the agent hangs, and the Pods continue. `start`: back to normal.
   * Rejects for an unknown node; the error lists the known ones.
   */
  async act(name: string, action: NodeAction): Promise<void> {
    const node = this.#nodes.find((each) => each.name === name);
    if (node === undefined) {
      const names = this.#nodes.map((each) => each.name);
      throw new Error(`there is no node "${name}", only ${names.join(', ')}`);
    }
    switch (action) {
      case 'kill':
        await node.kill();
        break;
      case 'stop':
        node.freeze();
        break;
      case 'start':
        await node.start();
        break;
    }
  }
}

/** Often enough that three renewals in a row may fail. */
function leaseRenewalMs(graceMs = NODE_MONITOR_GRACE_MS): number {
  return Math.min(LEASE_RENEWAL_MS, graceMs / 4);
}
