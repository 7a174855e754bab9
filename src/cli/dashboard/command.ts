/** `lockstep dashboard`: serves the page until Ctrl-C. */
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { Arguments, namespaceErrors, type Parsed } from '../arguments.ts';
import type { ConnectionFlags } from '../cluster-connection.ts';
import { MAX_PORT } from '../local-cluster/up-options.ts';
import { unlessInterrupted, withCluster } from '../named-jobset.ts';
import { DEFAULT_STATE_DIRECTORY } from '../state-directory.ts';
import { untilAborted } from '../termination.ts';
import { openBrowser } from './open-browser.ts';
import { serveConnected } from './serve-connected.ts';

export interface DashboardFlags {
  readonly port: string;
  readonly open: boolean;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
}

export interface DashboardCommand {
  readonly port: number;
  readonly doesOpen: boolean;
  /** Undefined: all. */
  readonly namespace: string | undefined;
}

export function parseDashboard(flags: DashboardFlags): Parsed<DashboardCommand> {
  const { port: text, open, namespace, allNamespaces } = flags;
  const given = new Arguments();
  const port = given.whole(
    '--port',
    text,
    [0, MAX_PORT],
    `are whole numbers from 0 to ${MAX_PORT}`,
  );
  given.refuse(...namespaceErrors(namespace));
  if (namespace !== undefined && allNamespaces === true) {
    given.refuse(`--all-namespaces and --namespace "${namespace}": only one of them is allowed`);
  }
  return given.parsed({ port, doesOpen: open, namespace });
}

/** Returns the exit code: 0 after Ctrl-C, which is the usual way to end it. */
export async function dashboard(
  { port, doesOpen, namespace }: DashboardCommand,
  flags: ConnectionFlags,
): Promise<number> {
  const code = await withCluster(flags, async ({ signal, ...connection }) => {
    const served = await serveConnected(connection, {
      kubeconfig: flags.kubeconfig,
      port,
      scope: { namespace, fallback: connection.access.namespace },
      stateDirectory: DEFAULT_STATE_DIRECTORY,
      clock: nodeClock,
      print: (text) => process.stdout.write(text),
    });
    process.stdout.write(`The dashboard is at\n  ${served.address}\nCtrl-C ends it.\n`);
    if (doesOpen) openBrowser(served.openedAddress());
    await untilAborted(signal);
    await served.close();
    return 0;
  });
  return unlessInterrupted(code);
}
