import { startLocalCluster } from './local-cluster.ts';
import { openStateDirectory } from './state-directory.ts';
import { onTermination } from './termination.ts';
import type { UpOptions } from './up-options.ts';

const EXIT_FAILURE = 1;

/** Runs or joins a cluster until a signal comes; returns the exit code of the command. */
export async function up(options: UpOptions): Promise<number> {
  const { stateDirectory, nodes, kubeconfig, agentChannel, nodeMonitorGraceMs } = options;
  const termination = onTermination();
  const state = openStateDirectory(stateDirectory);
  const where = `${nodeCount(nodes.length)} in ${state.path}`;
  try {
    process.stdout.write(`Starting Kubernetes with JobSet on ${where}\n`);
    const cluster = await startLocalCluster({
      state,
      remove: false,
      nodes,
      kubeconfig,
      agentChannel,
      ownProcesses: true,
      nodeMonitorGraceMs,
      signal: termination.signal,
    });
    try {
      process.stdout.write(
        'It runs. Point kubectl to it with\n' +
          `  export KUBECONFIG=${shellWord(cluster.kubeconfig)}\n` +
          'Ctrl-C ends it and all its Pods.\n',
      );
      const interrupted = new Promise<undefined>((resolve) => {
        termination.signal.addEventListener('abort', () => resolve(undefined), { once: true });
      });
      const ended = await Promise.race([interrupted, cluster.operatorExited]);
      if (ended === undefined) return termination.exitCode() ?? 0;
      process.stderr.write(`lockstep: ${ended}; ${state.path}/cluster.log says why\n`);
      return EXIT_FAILURE;
    } finally {
      await cluster.stop();
    }
  } catch (error) {
    const code = termination.exitCode();
    if (code === undefined) throw error;
    return code;
  } finally {
    state.release(false);
    termination.dispose();
  }
}

function nodeCount(count: number): string {
  return count === 1 ? '1 node' : `${count} nodes`;
}

/** As a shell reads it back, whatever is in it; most paths need no quotes. */
export function shellWord(text: string): string {
  return /^[\w./+:@%,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
