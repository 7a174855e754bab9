/** The page of the cluster that `lockstep up` runs, without a second command. */
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { connectTo } from '../cluster-connection.ts';
import { firstLook } from '../first-look.ts';
import { PortInUse, serveConnected } from './serve-connected.ts';
import type { Dashboard } from './server.ts';

export interface BesideCluster {
  /** For the user: the address, or why there is no page. */
  readonly text: string;
  close(): Promise<void>;
}

export interface BesideClusterOptions {
  readonly kubeconfig: string;
  /** Where the key of open pages is kept. */
  readonly stateDirectory: string;
  /** Another one is taken if it is in use. */
  readonly port: number;
  readonly signal: AbortSignal;
}

/** Never rejects: a cluster is worth having without its page. */
export async function serveBesideCluster(options: BesideClusterOptions): Promise<BesideCluster> {
  const { kubeconfig, stateDirectory, port, signal } = options;
  try {
    const connection = await connectTo({ kubeconfig }, signal);
    const serve = async (wanted: number): Promise<Dashboard> => {
      const scope = {
        namespace: undefined,
        fallback: connection.access.namespace,
        firstLook: firstLook(kubeconfig),
      };
      return serveConnected(connection, {
        kubeconfig,
        port: wanted,
        scope,
        stateDirectory,
        clock: nodeClock,
        print: (text) => process.stdout.write(text),
      });
    };
    try {
      const { served, where } = await serve(port).then(
        (first) => ({ served: first, where: 'The dashboard is at' }),
        async (error: unknown) => {
          if (!(error instanceof PortInUse)) throw error;
          return {
            served: await serve(0),
            where: `Port ${port} is in use, so the dashboard is at`,
          };
        },
      );
      return {
        text: `${where}\n  ${served.address}`,
        close: async () => {
          await served.close();
          connection.close();
        },
      };
    } catch (error) {
      connection.close();
      throw error;
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { text: `There is no dashboard: ${why}`, close: () => Promise.resolve() };
  }
}
