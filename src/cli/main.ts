/**
 * The `lockstep` command. Each subcommand is imported when it is called, so that `--help` and a
 * wrong flag answer at once. Exit codes: 0 success, 1 failure, 2 wrong usage, 130 and 143 signals.
 */
import { setMaxListeners } from 'node:events';
import { refuseInspector } from '@lockstep/kube/runtime/adapters/no-inspector.ts';
import { Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { UsageError } from './arguments.ts';
import { addClusterCommands } from './command-line/cluster-commands.ts';
import { addCompletionCommand } from './command-line/completion-command.ts';
import { addInstallationCommands } from './command-line/installation-commands.ts';
import { asCalled, asCommanderReads, commandName } from './command-line/invocation.ts';
import { addJobSetCommands } from './command-line/jobset-commands.ts';
import { tell } from './tell.ts';
import { endWithOutput } from './termination.ts';

/** The name under which cobra's programs answer shells. It is no command that users see. */
const COMPLETE = '__complete';
const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;
/** One signal ends all requests of a reconcile, and each listens to it while it lasts. */
const MAX_LISTENERS_PER_SIGNAL = 10_000;

refuseInspector();
const name = commandName(process.argv[1]);
const program = new Command(name)
  .description('JobSet for Kubernetes: when one worker fails, the whole group restarts in place')
  .version(packageJson.version)
  .exitOverride()
  .showHelpAfterError(`(${name} --help shows the commands, ${name} COMMAND --help its flags)`);

addClusterCommands(program);
addJobSetCommands(program);
addInstallationCommands(program);
addCompletionCommand(program);

setMaxListeners(MAX_LISTENERS_PER_SIGNAL);
endWithOutput();
const [node = '', script = '', ...words] = process.argv;
if (words[0] === COMPLETE) {
  const { complete } = await import('./completion/complete.ts');
  const answer = await complete(program, words.slice(1));
  // A login that nobody waits for any more would keep the process.
  process.stdout.write(answer, () => process.exit());
} else {
  try {
    await program.parseAsync([node, script, ...asCommanderReads(words)]);
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

function exitCodeOf(error: unknown): number {
  // Commander has printed its own message; help and version end with code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  const message = error instanceof Error ? error.message : String(error);
  const commands = program.commands.map((command) => command.name());
  for (const line of asCalled(message, name, commands).split('\n')) tell(line);
  return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILURE;
}
