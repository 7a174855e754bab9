/** `lockstep up`: a local cluster until a signal comes. */
import { shellWord } from '@lockstep/kube/quote.ts';
import { type BesideCluster, serveBesideCluster } from '../dashboard/beside-cluster.ts';
import { firstLook } from '../first-look.ts';
import { startLocalCluster } from '../local-cluster/local-cluster.ts';
import type { UpOptions } from '../local-cluster/up-options.ts';
import { openStateDirectory } from '../state-directory.ts';
import { tell } from '../tell.ts';
import { onTermination, untilAborted } from '../termination.ts';
import { endLeftovers, leftoversText } from '../watchdog/leftovers.ts';
import { watchShell } from './shell-watch.ts';

/** Runs or joins a cluster; returns the exit code of the command. */
export async function up(options: UpOptions): Promise<number> {
  const { stateDirectory, nodes, kubeconfig, agentChannel, dashboardPort } = options;
  const { nodeMonitorGraceMs, startMs } = options;
  const termination = onTermination();
  const state = openStateDirectory(stateDirectory);
  const unwatch = watchShell(() => termination.end('the shell that ran npx has ended'));
  const where = `${nodeCount(nodes.length)} in ${state.path}`;
  try {
    const ended = await endLeftovers(state.path);
    if (ended > 0) process.stdout.write(`${leftoversText(ended)}\n`);
    process.stdout.write(`Starting Kubernetes with JobSet on ${where}\n`);
    const cluster = await startLocalCluster({
      state,
      remove: false,
      nodes,
      kubeconfig,
      agentChannel,
      ownProcesses: true,
      nodeMonitorGraceMs,
      startMs,
      onOperatorEnd: (how, restartMs) => {
        tell(
          `${how}; it starts again in ${restartMs / 1000} s, and workers run on (${state.path}/cluster.log)`,
        );
      },
      onPortConflict: tell,
      onEndAsked: () => termination.end('asked by "lockstep down"'),
      signal: termination.signal,
    });
    let page: BesideCluster | undefined;
    try {
      const { kubeconfig: joined } = cluster;
      page =
        dashboardPort === undefined
          ? undefined
          : await serveBesideCluster({
              kubeconfig: joined,
              stateDirectory: state.path,
              port: dashboardPort,
              signal: termination.signal,
            });
      process.stdout.write(
        'It runs. Point kubectl to it with\n' +
          `  export KUBECONFIG=${shellWord(joined)}\n` +
          (page === undefined ? '' : `${page.text}\n`) +
          `For a first look, train a model for five minutes with\n  ${firstLook().apply}\n` +
          'Ctrl-C, or "lockstep down", ends it and all its Pods.\n',
      );
      await untilAborted(termination.signal);
      return termination.exitCode() ?? 0;
    } finally {
      await page?.close();
      await cluster.stop();
    }
  } catch (error) {
    const code = termination.exitCode();
    if (code === undefined) throw error;
    return code;
  } finally {
    unwatch();
    state.release(false);
    termination.dispose();
  }
}

function nodeCount(count: number): string {
  return count === 1 ? '1 node' : `${count} nodes`;
}
