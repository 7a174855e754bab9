/** The page of the cluster that `lockstep up` runs, without a second command. */
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { connectTo } from '../cluster-connection.ts';
import { firstLook } from '../first-look.ts';
import { PortInUse, serveConnected } from './serve-connected.ts';

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
    const fallback = connection.access.namespace;
    const scope = { namespace: undefined, fallback, firstLook: firstLook(kubeconfig) };
    const print = (text: string): void => void process.stdout.write(text);
    const common = { kubeconfig, scope, stateDirectory, clock: nodeClock, print };
    let where = 'The dashboard is at';
    try {
      const served = await serveConnected(connection, { ...common, port }).catch((error) => {
        if (!(error instanceof PortInUse)) throw error;
        where = `Port ${port} is in use, so the dashboard is at`;
        return serveConnected(connection, { ...common, port: 0 });
      });
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
