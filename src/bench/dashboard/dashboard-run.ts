/** A large run for the dashboard: simulated members that train, and the server of the page. */

import { connectClient } from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { startDashboard } from '../../cli/dashboard/cluster-content.ts';
import { passingAccessKey } from '../../cli/dashboard/http/access-key.ts';
import type { Dashboard } from '../../cli/dashboard/server.ts';
import { PORTS } from '../../cli/ports.ts';
import { startBenchCluster } from '../bench-cluster.ts';
import { SimulatedGroup } from '../simulated-group.ts';

/** Debian's, or the program that `npm run test:browser` has found. */
export const CHROMIUM = process.env['LOCKSTEP_TEST_CHROMIUM'] ?? '/usr/bin/chromium';

export interface DashboardRun {
  readonly client: Client;
  readonly namespace: string;
  readonly name: string;
  readonly dashboard: Dashboard;
  /** One member fails, and all restart. Resolves with the new epoch once all have started it. */
  restart(): Promise<number>;
  stop(): Promise<void>;
}

/** Resolves when all members train. The Pods are in the API only, and so belong to no node. */
export async function startDashboardRun(size: number, signal: AbortSignal): Promise<DashboardRun> {
  const cluster = await startBenchCluster(undefined, signal);
  const stops: (() => Promise<void> | void)[] = [() => cluster.stop()];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    await cluster.startOperator('Auto');
    const { client, namespace, access } = cluster;
    const group = await SimulatedGroup.create(client, namespace, size, signal);
    const { name } = group.jobSet.metadata;
    const fleet = await group.startFleet(signal);
    stops.push(() => fleet.stop());
    fleet.reportProgress(true);
    let epoch = 1;
    await fleet.all('started', epoch);
    const runtime = { ...PORTS, userAgent: 'lockstep-bench' };
    const connection = connectClient(access, runtime);
    stops.push(() => connection.close());
    const dashboard = await startDashboard({
      connection,
      clusterFlags: [],
      cluster: { context: 'bench', server: access.server, serverVersion: '', version: '' },
      scope: { namespace: undefined, fallback: namespace },
      accessKey: passingAccessKey(),
      port: 0,
      ...PORTS,
    });
    stops.push(() => dashboard.close());
    return {
      client,
      namespace,
      name,
      dashboard,
      restart: async () => {
        epoch++;
        await Promise.all([fleet.fail(), fleet.all('started', epoch)]);
        return epoch;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
