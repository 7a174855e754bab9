/** `lockstep dashboard`: serves the page until Ctrl-C. */
import { quote } from '@lockstep/kube/quote.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { Arguments, namespaceErrors, type Parsed } from '../arguments.ts';
import type { ConnectionFlags } from '../cluster-connection.ts';
import { MAX_PORT } from '../local-cluster/up-options.ts';
import { unlessInterrupted, withCluster } from '../named-jobset.ts';
import { DEFAULT_STATE_DIRECTORY } from '../state-directory.ts';
import { onTermination, untilAborted } from '../termination.ts';
import { openBrowser } from './open-browser.ts';
import { listenProblem, newAddressText, serveConnected } from './serve-connected.ts';
import type { Dashboard } from './server.ts';

export interface DashboardFlags extends ConnectionFlags {
  readonly port: string;
  readonly open: boolean;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly trace?: string;
}

export interface DashboardCommand {
  readonly port: number;
  readonly doesOpen: boolean;
  /** Undefined: all. */
  readonly namespace: string | undefined;
  /** The path of a trace to play; undefined: shows a cluster. */
  readonly trace: string | undefined;
}

export function parseDashboard(flags: DashboardFlags): Parsed<DashboardCommand> {
  const { port: text, open, namespace, allNamespaces, trace } = flags;
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
  if (trace !== undefined) {
    if (trace === '') given.refuse('--trace is "", expected the path of a file');
    for (const [flag, value] of ofCluster(flags)) {
      if (value === undefined) continue;
      given.refuse(
        `${flag} and --trace ${quote(trace)}: a trace needs no cluster, expected one of them`,
      );
    }
  }
  return given.parsed({ port, doesOpen: open, namespace, trace });
}

function ofCluster({ namespace, allNamespaces, kubeconfig, context }: DashboardFlags) {
  return Object.entries({
    '--namespace': namespace,
    '--all-namespaces': allNamespaces,
    '--kubeconfig': kubeconfig,
    '--context': context,
  });
}

/** Returns the exit code: 0 after Ctrl-C, which is the usual way to end it. */
export async function dashboard(
  command: DashboardCommand,
  flags: ConnectionFlags,
): Promise<number> {
  const { port, doesOpen, namespace, trace } = command;
  if (trace !== undefined) return play(trace, command);
  const code = await withCluster(flags, async ({ signal, ...connection }) => {
    const served = await serveConnected(connection, {
      kubeconfig: flags.kubeconfig,
      port,
      scope: { namespace, fallback: connection.access.namespace },
      stateDirectory: DEFAULT_STATE_DIRECTORY,
      clock: nodeClock,
      print: (text) => process.stdout.write(text),
    });
    await serveUntilAborted(served, doesOpen, signal);
    return 0;
  });
  return unlessInterrupted(code);
}

async function play(path: string, command: DashboardCommand): Promise<number> {
  const { readTrace } = await import('./trace/read-trace.ts');
  const { serveTrace } = await import('./trace/serve-trace.ts');
  const trace = readTrace(path);
  const termination = onTermination();
  try {
    const { port, doesOpen } = command;
    const onNewAddress = (address: string): void =>
      void process.stdout.write(newAddressText(address));
    const served = await serveTrace({ trace, path, port, onNewAddress }).catch((error: unknown) => {
      throw listenProblem(error, port);
    });
    await serveUntilAborted(served, doesOpen, termination.signal);
    return unlessInterrupted(termination.exitCode() ?? 0);
  } finally {
    termination.dispose();
  }
}

async function serveUntilAborted(
  served: Dashboard,
  doesOpen: boolean,
  signal: AbortSignal,
): Promise<void> {
  process.stdout.write(`The dashboard is at\n  ${served.address}\nCtrl-C ends it.\n`);
  if (doesOpen) openBrowser(served.openedAddress());
  await untilAborted(signal);
  await served.close();
}
