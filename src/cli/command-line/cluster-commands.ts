/** Commands that run a cluster on this machine. */

import { DEFAULT_POD_NAMESPACES } from '@lockstep/embedded-kubernetes/node-settings';
import type { Command } from 'commander';
import { optionsOf } from '../arguments.ts';
import type { DemoFlags } from '../demo/options.ts';
import { parseDemoFlags } from '../demo/options.ts';
import {
  DEFAULT_AGENT_CHANNEL,
  DEFAULT_START_MS,
  NODES_MAX,
  parseUpFlags,
  type UpFlags,
} from '../local-cluster/up-options.ts';
import { DEFAULT_STATE_DIRECTORY } from '../state-directory.ts';
import { DASHBOARD_PORT } from './cluster-command.ts';

const KUBECONFIG_HELP =
  'join the cluster of this kubeconfig as an administrator instead of starting one';

export function addClusterCommands(program: Command): void {
  program
    .command('demo')
    .description('train MNIST on an embedded cluster, kill a worker and show the restart')
    .option('--workers <n>', 'worker Pods, 1 to 64', '4')
    .option('--kill <rank>', 'rank of the worker to kill, or none', '1')
    .option('--at-step <step>', 'step of the first kill, 1 to 699', '330')
    .option('--failures <k>', 'how many times to kill it, 1 to 10', '1')
    .option(
      '--mode <mode>',
      'what restarts a worker: supervisor (the agent, its parent process) or sidecar (the node)',
      'supervisor',
    )
    .option(
      '--strategy <strategy>',
      'InPlaceRestart, Recreate or BlockingRecreate',
      'InPlaceRestart',
    )
    .option('--kubeconfig <file>', KUBECONFIG_HELP)
    .option('--json', 'print only one JSON object on standard output')
    .option('--keep', 'keep the state directory and print its path')
    .action(async (flags: DemoFlags) => {
      const options = optionsOf(parseDemoFlags(flags));
      const { demo } = await import('../demo/demo.ts');
      process.exitCode = await demo(options);
    });

  program
    .command('up')
    .description('run an embedded Kubernetes with JobSet in the foreground; use it with kubectl')
    .option(
      '--state-dir <directory>',
      'directory of credentials, Pods and logs',
      DEFAULT_STATE_DIRECTORY,
    )
    .option('--nodes <n>', `number of nodes, 1 to ${NODES_MAX}`, '1')
    .option(
      '--topology <label=count>',
      'spread COUNT values of a label evenly over the nodes, such as rack=4; repeatable',
      (text: string, before: readonly string[] | undefined) => [...(before ?? []), text],
    )
    .option(
      '--agent-channel <channel>',
      'how agents reach the operator: Hub (streams), API (the API server), or Auto (Hub, then API)',
      DEFAULT_AGENT_CHANNEL,
    )
    .option(
      '--node-monitor-grace-period <duration>',
      'how long a node may be silent before it counts as lost',
      '40s',
    )
    .option(
      '--max-container-restart-period <duration>',
      'longest wait before a crashing container restarts; 5m by default',
    )
    .option(
      '--reduced-crash-loop-decay',
      'begin these waits with 1s instead of 10s, and end with 1m instead of 5m',
    )
    .option(
      '--pod-namespaces <mode>',
      `Linux namespaces for containers: Auto (where this machine can) or Off; ${DEFAULT_POD_NAMESPACES} by default`,
    )
    .option(
      '--dashboard-port <port>',
      'port of 127.0.0.1 for the dashboard; if it is in use, another; or off',
      String(DASHBOARD_PORT),
    )
    .option('--kubeconfig <file>', KUBECONFIG_HELP)
    .option(
      '--timeout <seconds>',
      'how long to wait until it serves JobSets',
      String(DEFAULT_START_MS / 1000),
    )
    .action(async (flags: UpFlags) => {
      const options = optionsOf(parseUpFlags(flags));
      const { up } = await import('../up/up.ts');
      process.exitCode = await up(options);
    });

  program
    .command('down')
    .description('end a running "lockstep up" and all its Pods')
    .option(
      '--state-dir <directory>',
      'state directory of that "lockstep up"',
      DEFAULT_STATE_DIRECTORY,
    )
    .action(async ({ stateDir }: { readonly stateDir: string }) => {
      const { down } = await import('../up/down.ts');
      process.exitCode = await down(stateDir);
    });

  program
    .command('node')
    .description('make a node of a running "lockstep up" fail, or bring it back')
    .argument(
      '<action>',
      'kill (power is lost), stop (the node agent hangs, its Pods run on) or start (the node comes back)',
    )
    .argument('<name>', 'name of the node, such as node-0')
    .option(
      '--state-dir <directory>',
      'state directory of that "lockstep up"',
      DEFAULT_STATE_DIRECTORY,
    )
    .action(async (action: string, node: string, flags: { readonly stateDir: string }) => {
      const { actOnNode } = await import('../node-control/control-socket.ts');
      await actOnNode(flags.stateDir, node, action);
    });
}
