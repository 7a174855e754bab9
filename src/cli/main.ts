/**
 * The `lockstep` command. Each subcommand is imported when it is called, so that `--help` and a
 * wrong flag answer at once. Exit codes: 0 success, 1 failure, 2 wrong usage, 130 and 143 signals.
 */
import { setMaxListeners } from 'node:events';
import { Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { DEFAULT_POD_NAMESPACES } from '../cluster/node/ports/pod-namespaces.ts';
import { DEFAULT_NAMESPACE } from '../deploy/settings.ts';
import type { ConnectionFlags } from './cluster-connection.ts';
import type { DemoFlags } from './demo/options.ts';
import { parseDemoFlags } from './demo/options.ts';
import { type InstallFlags, type InstallOptions, parseInstallFlags } from './install/options.ts';
import type { LogsFlags } from './jobset-logs/options.ts';
import type { ReportFlags } from './jobset-report/command.ts';
import type { RestartFlags } from './jobset-restart/command.ts';
import { DEFAULT_STATE_DIRECTORY } from './state-directory.ts';
import { endWithOutput } from './termination.ts';
import { DEFAULT_AGENT_CHANNEL, NODES_MAX, parseUpFlags, type UpFlags } from './up-options.ts';

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;
/** One signal ends all requests of a reconcile, and each listens to it while it lasts. */
const MAX_LISTENERS_PER_SIGNAL = 10_000;

const KUBECONFIG_HELP =
  'join the cluster of this kubeconfig as an administrator instead of starting one';

const program = new Command('lockstep')
  .description('JobSet for Kubernetes: when one worker fails, the whole group restarts in place')
  .version(packageJson.version)
  .exitOverride()
  .showHelpAfterError('(lockstep --help shows the commands, lockstep COMMAND --help its flags)');

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
  .option('--strategy <strategy>', 'InPlaceRestart, Recreate or BlockingRecreate', 'InPlaceRestart')
  .option('--kubeconfig <file>', KUBECONFIG_HELP)
  .option('--json', 'print only one JSON object on standard output')
  .option('--keep', 'keep the state directory and print its path')
  .action(async (flags: DemoFlags) => {
    const parsed = parseDemoFlags(flags);
    if ('errors' in parsed) throw new UsageError(parsed.errors.join('\n'));
    const { demo } = await import('./demo/demo.ts');
    process.exitCode = await demo(parsed.options);
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
    'state directory of that "lockstep up"',
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
    'kill (power is lost), stop (the node agent hangs, its Pods run on) or start (the node comes back)',
  )
  .argument('<name>', 'name of the node, such as node-0')
  .option(
    '--state-dir <directory>',
    'state directory of that "lockstep up"',
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
    'print the objects that the JobSets of a file become: Jobs, Service, volume claims, rights of agents',
  )
  .argument('<file>', 'YAML or JSON file, or - for standard input')
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

installationCommand('install', 'install the operator in a cluster and wait until it is ready')
  .option('--operator-image <image>', 'image of the operator')
  .option('--agent-image <image>', 'image of injected agents')
  .option('--max-streams <n>', 'number of agents that the hub serves at a time')
  .option(
    '--operator-memory <quantity>',
    'memory limit of the operator; follows --max-streams by default',
  )
  .option(
    '--webhooks <whether>',
    'on or off: whether API servers ask the operator about JobSets',
    'on',
  )
  .option('--network-policy', 'add a NetworkPolicy that limits who may reach the operator')
  .option('--watch-namespace <names...>', 'confine the operator and its rights to these namespaces')
  .option('--monitoring', 'add a ServiceMonitor and alert rules for the Prometheus operator')
  .option('--replace-crd', 'replace the CustomResourceDefinition of another JobSet controller')
  .option('--timeout <seconds>', 'how long to wait until everything is ready', '120')
  .option('--dry-run', 'ask the API server whether it accepts everything, and change nothing')
  .option('-o, --output <format>', 'yaml: print the manifest without asking a cluster')
  .action(async (flags: InstallFlags) => {
    const { installCommand } = await import('./install/command.ts');
    process.exitCode = await installCommand('install', installOptions(flags), false);
  });

installationCommand('status', 'show the state of an installation, or of a JobSet and its members')
  .argument('[jobset]', 'name of a JobSet; --namespace is then the namespace of the JobSet')
  .option('--webhooks <whether>', 'on or off: what to expect; by default what was installed')
  .option('-w, --watch', 'for a JobSet: keep showing changes until Ctrl-C')
  .option('-o, --output <format>', 'for a JobSet: json')
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
  .option('--delete-jobsets', 'also remove the JobSet API, and all JobSets with it')
  .option('--dry-run', 'only print what would be removed')
  .action(async (flags: InstallFlags & { readonly deleteJobsets?: boolean }) => {
    const { installCommand } = await import('./install/command.ts');
    const options = installOptions({ ...flags, monitoring: true, networkPolicy: true });
    process.exitCode = await installCommand('uninstall', options, flags.deleteJobsets === true);
  });

jobSetCommand('logs', 'show the logs of all members of a JobSet, in the order of time')
  .option('--rank <rank>', 'only this member: 5, or workers/5')
  .option('--epoch <n>', 'only lines of this epoch')
  .option('--failed', 'only members that failed: the suspects, or the first that was seen to fail')
  .option('-f, --follow', 'go on through restarts until the JobSet has finished')
  .option('--since <duration>', 'only lines newer than this, such as 5m')
  .option('--tail <n>', 'only the last lines of each run of a container')
  .option('-c, --container <name>', "container; the worker's by default")
  .option('--timestamps', 'put its time before each line')
  .option('--agent', "show the agent's own lines too")
  .action(async (jobSet: string, flags: LogsFlags & ConnectionFlags) => {
    const { parseLogs } = await import('./jobset-logs/options.ts');
    const parsed = parseLogs(jobSet, flags);
    if ('errors' in parsed) throw new UsageError(parsed.errors.join('\n'));
    const { jobSetLogs } = await import('./jobset-logs/command.ts');
    process.exitCode = await jobSetLogs(parsed.options, flags);
  });

jobSetCommand('restart', 'end the current epoch of a JobSet, so that all its workers start again')
  .option('--timeout <seconds>', 'how long to wait until the next epoch runs', '60')
  .option('--no-wait', 'only ask for the restart')
  .action(async (jobSet: string, flags: RestartFlags & ConnectionFlags) => {
    const { parseRestart, restartJobSet } = await import('./jobset-restart/command.ts');
    const parsed = parseRestart(jobSet, flags);
    if ('errors' in parsed) throw new UsageError(parsed.errors.join('\n'));
    process.exitCode = await restartJobSet(parsed.options, flags);
  });

jobSetCommand('report', 'show each recorded restart of a JobSet: a timeline, and who caused it')
  .option('-o, --output <format>', 'json')
  .action(async (jobSet: string, flags: ReportFlags & ConnectionFlags) => {
    const { parseReport, reportJobSet } = await import('./jobset-report/command.ts');
    const parsed = parseReport(jobSet, flags);
    if ('errors' in parsed) throw new UsageError(parsed.errors.join('\n'));
    process.exitCode = await reportJobSet(parsed.options, flags);
  });

function jobSetCommand(name: string, description: string): Command {
  return clusterCommand(name, description)
    .argument('<jobset>', 'name of the JobSet')
    .option('-n, --namespace <name>', "namespace of the JobSet; the context's by default");
}

function installationCommand(name: string, description: string): Command {
  return clusterCommand(name, description).option(
    '-n, --namespace <name>',
    NAMESPACE_HELP,
    DEFAULT_NAMESPACE,
  );
}

function clusterCommand(name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .option('--kubeconfig <file>', "kubeconfig file; kubectl's by default")
    .option('--context <name>', 'context to use instead of the current one');
}

function installOptions(flags: InstallFlags): InstallOptions {
  const parsed = parseInstallFlags(flags, packageJson.version);
  if ('errors' in parsed) throw new UsageError(parsed.errors.join('\n'));
  return parsed.options;
}

/** The user typed something wrong; the message says what, and how to fix it. */
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
