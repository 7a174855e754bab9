/**
 * The `lockstep` command. Each subcommand is imported when it is called, so that `--help` and a
 * wrong flag answer at once. Exit codes: 0 success, 1 failure, 2 wrong usage, 130 and 143 signals.
 */
import { setMaxListeners } from 'node:events';
import { Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { DEFAULT_POD_NAMESPACES } from '../cluster/node/ports/pod-namespaces.ts';
import { DEFAULT_NAMESPACE } from '../deploy/settings.ts';
import type { DemoFlags } from './demo/options.ts';
import { parseDemoFlags } from './demo/options.ts';
import { type InstallFlags, type InstallOptions, parseInstallFlags } from './install/options.ts';
import { DEFAULT_STATE_DIRECTORY } from './state-directory.ts';
import { endWithOutput } from './termination.ts';
import { DEFAULT_AGENT_CHANNEL, NODES_MAX, parseUpFlags, type UpFlags } from './up-options.ts';

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;
/** One signal ends all requests of a reconcile, and each listens to it while it lasts. */
const MAX_LISTENERS_PER_SIGNAL = 10_000;

const KUBECONFIG_HELP =
  'join the cluster of this file, as an administrator, instead of starting one';

const program = new Command('lockstep')
  .description('JobSet for Kubernetes: when one worker fails, the whole group restarts in place')
  .version(packageJson.version)
  .exitOverride()
  .showHelpAfterError('(lockstep --help shows the commands, lockstep COMMAND --help its flags)');

program
  .command('demo')
  .description('train MNIST on an embedded cluster, kill a worker, and show the restart')
  .option('--workers <n>', 'worker Pods, 1 to 64', '4')
  .option('--kill <rank>', 'rank of the worker to kill, or none', '1')
  .option('--at-step <step>', 'step of the first kill, 1 to 699', '330')
  .option('--failures <k>', 'how many times to kill it, 1 to 10', '1')
  .option(
    '--mode <mode>',
    'who restarts a worker process: supervisor (the agent, its parent) or sidecar (the node)',
    'supervisor',
  )
  .option('--strategy <strategy>', 'InPlaceRestart, Recreate or BlockingRecreate', 'InPlaceRestart')
  .option('--kubeconfig <file>', KUBECONFIG_HELP)
  .option('--json', 'print one JSON object and nothing else on standard output')
  .option('--keep', 'keep the state directory, and say where it is')
  .action(async (flags: DemoFlags) => {
    const parsed = parseDemoFlags(flags);
    if ('errors' in parsed) throw new UsageError(parsed.errors.join('\n'));
    const { demo } = await import('./demo/demo.ts');
    process.exitCode = await demo(parsed.options);
  });

program
  .command('up')
  .description('run an embedded Kubernetes with JobSet in the foreground, for kubectl')
  .option(
    '--state-dir <directory>',
    'where credentials, Pods and logs live',
    DEFAULT_STATE_DIRECTORY,
  )
  .option('--nodes <n>', `nodes of the cluster, 1 to ${NODES_MAX}`, '1')
  .option(
    '--topology <label=count>',
    'give the nodes a label with so many values, spread evenly: rack=4; may be repeated',
    (text: string, before: readonly string[] | undefined) => [...(before ?? []), text],
  )
  .option(
    '--agent-channel <channel>',
    'how agents speak to the operator: Hub (streams), API (the API server), or Auto (the one, else the other)',
    DEFAULT_AGENT_CHANNEL,
  )
  .option(
    '--node-monitor-grace-period <duration>',
    'how long a node may be silent until it counts as lost',
    '40s',
  )
  .option(
    '--max-container-restart-period <duration>',
    'the longest wait of a container that crashes again and again; 5m by default',
  )
  .option(
    '--reduced-crash-loop-decay',
    'let those waits begin with 1s instead of 10s, and end with 1m instead of 5m',
  )
  .option(
    '--pod-namespaces <mode>',
    `give containers volumes at their paths and processes of their own: Auto (wherever this machine can) or Off; ${DEFAULT_POD_NAMESPACES} by default`,
  )
  .option('--kubeconfig <file>', KUBECONFIG_HELP)
  .action(async (flags: UpFlags) => {
    const parsed = parseUpFlags(flags);
    if ('errors' in parsed) throw new UsageError(parsed.errors.join('\n'));
    const { up } = await import('./up.ts');
    process.exitCode = await up(parsed.options);
  });

program
  .command('down')
  .description('end a running "lockstep up" and all its Pods')
  .option(
    '--state-dir <directory>',
    'the one that "lockstep up" was given',
    DEFAULT_STATE_DIRECTORY,
  )
  .action(async ({ stateDir }: { readonly stateDir: string }) => {
    const { down } = await import('./down.ts');
    process.exitCode = await down(stateDir);
  });

program
  .command('node')
  .description('make a node of a running "lockstep up" fail, or bring it back')
  .argument(
    '<action>',
    'kill (power is lost), stop (the agent hangs, its Pods go on) or start (it comes back)',
  )
  .argument('<name>', 'of the node, such as node-0')
  .option(
    '--state-dir <directory>',
    'the one that "lockstep up" was given',
    DEFAULT_STATE_DIRECTORY,
  )
  .action(async (action: string, node: string, flags: { readonly stateDir: string }) => {
    const { actOnNode, parseNodeAction } = await import('./node-control/control-socket.ts');
    const parsed = parseNodeAction(action);
    if ('error' in parsed) throw new UsageError(parsed.error);
    await actOnNode(flags.stateDir, { node, action: parsed.action });
  });

program
  .command('render')
  .description(
    'print the Service, the volume claims, the rights of the agents and the Jobs that the JobSets of a file become',
  )
  .argument('<file>', 'a YAML or JSON file, or - for standard input')
  .option('-o, --output <format>', 'yaml or json', 'yaml')
  .action(async (file: string, flags: { output: string }) => {
    if (flags.output !== 'yaml' && flags.output !== 'json') {
      throw new UsageError(`--output is "${flags.output}", allowed are yaml, json`);
    }
    const { render } = await import('./render.ts');
    process.exitCode = await render(file, flags.output);
  });

const NAMESPACE_HELP = 'namespace of the operator';

type StatusFlags = InstallFlags & { readonly watch?: boolean };

installationCommand('install', 'install the operator in a cluster, and wait until it is ready')
  .option('--operator-image <image>', 'image of the operator')
  .option('--agent-image <image>', 'image of injected agents')
  .option('--max-streams <n>', 'agents that the hub of the operator serves at a time')
  .option('--operator-memory <quantity>', "limit of the operator's memory; by default it follows")
  .option('--webhooks <whether>', 'on or off: whether API servers ask the operator', 'on')
  .option('--network-policy', 'add a NetworkPolicy: who may reach the operator')
  .option(
    '--watch-namespace <names...>',
    'confine the operator, and its rights, to these namespaces',
  )
  .option('--monitoring', 'add a ServiceMonitor and alert rules for the operator of Prometheus')
  .option('--replace-crd', 'replace the CustomResourceDefinition of another JobSet controller')
  .option('--timeout <seconds>', 'how long to wait until all is ready', '120')
  .option('--dry-run', 'ask the API server whether it would take everything, and change nothing')
  .option('-o, --output <format>', 'yaml: print the manifest, and ask no cluster')
  .action(async (flags: InstallFlags) => {
    const { installCommand } = await import('./install/command.ts');
    process.exitCode = await installCommand('install', installOptions(flags), false);
  });

installationCommand(
  'status',
  'say how the installation in a cluster is, and what it lacks; or how a JobSet and its members are',
)
  .argument('[jobset]', 'name of a JobSet; then --namespace is its own')
  .option('--webhooks <whether>', 'on or off: what is to be there; by default as it was installed')
  .option('-w, --watch', 'of a JobSet: go on showing what changes, until Ctrl-C')
  .option('-o, --output <format>', 'of a JobSet: json')
  .action(async (jobSet: string | undefined, flags: StatusFlags, command: Command) => {
    if (jobSet !== undefined) {
      const { jobSetStatus, parseJobSetStatus } = await import('./jobset-status/command.ts');
      const isGiven = command.getOptionValueSource('namespace') === 'cli';
      const namespace = isGiven ? flags.namespace : undefined;
      const parsed = parseJobSetStatus(jobSet, { ...flags, namespace });
      if ('errors' in parsed) throw new UsageError(parsed.errors.join('\n'));
      process.exitCode = await jobSetStatus(parsed.options, flags);
      return;
    }
    for (const flag of ['watch', 'output'] as const) {
      if (flags[flag] === undefined) continue;
      throw new UsageError(`--${flag} is for a JobSet: lockstep status JOBSET --${flag}`);
    }
    const { installCommand } = await import('./install/command.ts');
    process.exitCode = await installCommand('status', installOptions(flags), false);
  });

installationCommand('uninstall', 'remove the operator from a cluster; JobSets and their Pods stay')
  .option('--delete-jobsets', 'remove the JobSet API too, and all JobSets with it')
  .option('--dry-run', 'only say what would be removed')
  .action(async (flags: InstallFlags & { readonly deleteJobsets?: boolean }) => {
    const { installCommand } = await import('./install/command.ts');
    const options = installOptions({ ...flags, monitoring: true, networkPolicy: true });
    process.exitCode = await installCommand('uninstall', options, flags.deleteJobsets === true);
  });

function installationCommand(name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .option('--kubeconfig <file>', 'kubeconfig; by default the one that kubectl would use')
    .option('--context <name>', 'context of the kubeconfig instead of its current one')
    .option('-n, --namespace <name>', NAMESPACE_HELP, DEFAULT_NAMESPACE);
}

function installOptions(flags: InstallFlags): InstallOptions {
  const parsed = parseInstallFlags(flags, packageJson.version);
  if ('errors' in parsed) throw new UsageError(parsed.errors.join('\n'));
  return parsed.options;
}

/** What the user typed is wrong; the message says what and how to mend it. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

setMaxListeners(MAX_LISTENERS_PER_SIGNAL);
endWithOutput();
try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

function exitCodeOf(error: unknown): number {
  // Commander has printed its own message; help and version end with code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  const message = error instanceof Error ? error.message : String(error);
  for (const line of message.split('\n')) process.stderr.write(`lockstep: ${line}\n`);
  return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILURE;
}
