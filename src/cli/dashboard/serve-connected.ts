/** Serves the page for a cluster to which there is a connection; `dashboard` and `up` share it. */
import { resolve } from 'node:path';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Connected } from '../cluster-connection.ts';
import { startDashboard } from './cluster-content.ts';
import { accessKeyIn } from './http/access-key.ts';
import type { Scope } from './overview/overview-source.ts';
import type { Dashboard } from './server.ts';

export interface ServeOptions {
  /** Which file led to the connection; absent: what kubectl reads too. */
  readonly kubeconfig: string | undefined;
  /** 0: any that is free. */
  readonly port: number;
  readonly scope: Scope;
  /** Where the key is kept, so that open pages survive a restart. */
  readonly stateDirectory: string;
  readonly clock: Clock;
  /** Prints for the user. */
  readonly print: (text: string) => void;
}

/** Says which flag to change. */
export class PortInUse extends Error {
  override readonly name = 'PortInUse';
}

/** Rejects with an error that says what to do if the port is taken. */
export async function serveConnected(
  connection: Connected,
  { kubeconfig, port, scope, stateDirectory, clock, print }: ServeOptions,
): Promise<Dashboard> {
  const { access, serverVersion } = connection;
  try {
    return await startDashboard({
      connection,
      cluster: {
        context: access.context ?? '',
        server: access.server,
        serverVersion,
        version: packageJson.version,
      },
      clusterFlags: [
        ...(kubeconfig === undefined ? [] : ['--kubeconfig', resolve(kubeconfig)]),
        ...(access.context === undefined ? [] : ['--context', access.context]),
      ],
      scope,
      accessKey: accessKeyIn(stateDirectory, clock.now()),
      onNewAddress: (address) => print(newAddressText(address)),
      port,
      clock,
      random: systemRandom,
    });
  } catch (error) {
    throw listenProblem(error, port);
  }
}

/** For the user, when the address before was used. */
export function newAddressText(address: string): string {
  return `Another browser can open\n  ${address}\n`;
}

/** What to tell the user of an error of the system. */
export function listenProblem(error: unknown, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    return new PortInUse(
      `port ${port} of 127.0.0.1 is in use, perhaps by another dashboard: choose one with --port, or any with --port 0`,
      { cause: error },
    );
  }
  if (code !== 'EACCES') return error;
  return new Error(`you may not listen on port ${port}: choose another with --port`, {
    cause: error,
  });
}
