/**
 * The `lockstep` command. Each subcommand is imported when it is called, so that `--help` and a
 * wrong flag answer at once. Exit codes: 0 success, 1 failure, 2 wrong usage, 130 and 143 signals.
 */
import { setMaxListeners } from 'node:events';
import { Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import type { DemoFlags } from './demo/options.ts';
import { parseDemoFlags } from './demo/options.ts';
import { DEFAULT_STATE_DIRECTORY } from './state-directory.ts';
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
  .option('--kubeconfig <file>', KUBECONFIG_HELP)
  .action(async (flags: UpFlags) => {
    const parsed = parseUpFlags(flags);
    if ('errors' in parsed) throw new UsageError(parsed.errors.join('\n'));
    const { up } = await import('./up.ts');
    process.exitCode = await up(parsed.options);
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
    const { actOnNode, parseNodeAction } = await import('./node-control/node-command.ts');
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
    process.exitCode = render(file, flags.output);
  });

/** What the user typed is wrong; the message says what and how to mend it. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

setMaxListeners(MAX_LISTENERS_PER_SIGNAL);
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
