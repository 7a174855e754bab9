/**
 * The part of `main.ts` that runs in namespaces of its own: starts the cluster and runs the command.
 *
 *   tsx tools/node/inside.ts DIRECTORY CGROUP NODES -- COMMAND...
 *
 * It ends at once, and with it all processes of the cluster, when the command has ended or when file
 * descriptor 3 is closed.
 */
import { Socket } from 'node:net';
import { delimiter, join } from 'node:path';
import { exitCodeOf } from '../exit-code.ts';
import { startCluster } from './cluster.ts';

const LIFELINE = 3;
const EXIT_FAILURE = 1;
const EXIT_INTERRUPTED = 130;

const [directory = '', cgroup = '', nodes = '', , program = '', ...args] = process.argv.slice(2);

const lifeline = new Socket({ fd: LIFELINE });
lifeline.on('close', () => process.exit(EXIT_INTERRUPTED));
lifeline.resume();
const interrupt = (): void => process.exit(EXIT_INTERRUPTED);
process.on('SIGINT', interrupt);
process.env['PATH'] = [join(directory, 'bin'), process.env['PATH']].join(delimiter);

process.exit(await main());

async function main(): Promise<number> {
  const startMs = performance.now();
  try {
    const kubeconfig = await startCluster({ directory, cgroup, nodes: Number(nodes) });
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
    report(`a node runs after ${seconds} s; KUBECONFIG=${kubeconfig}`);
    // From now on the command decides what an interrupt does.
    process.off('SIGINT', interrupt);
    const environment = { KUBECONFIG: kubeconfig, LOCKSTEP_TEST_NODE: directory };
    return await exitCodeOf(program, args, environment);
  } catch (error) {
    report(`no node runs: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
    report(`logs are in ${directory}`);
    return EXIT_FAILURE;
  }
}

function report(message: string): void {
  process.stderr.write(`${message}\n`);
}
