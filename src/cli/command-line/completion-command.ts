/** The command that prints completion scripts. */
import type { Command } from 'commander';
import { UsageError } from '../usage-error.ts';

const HELP = `
For bash 4 or later, in ~/.bashrc:    source <(lockstep completion bash)
For zsh, in ~/.zshrc after compinit:  source <(lockstep completion zsh)
For fish, in config.fish:             lockstep completion fish | source

"kubectl lockstep" is completed by kubectl's own script, which looks for the program
kubectl_complete-lockstep on the PATH.`;

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a script that completes commands, flags and names of your cluster')
    .argument('<shell>', 'bash, zsh or fish')
    .addHelpText('after', HELP)
    .action(async (text: string) => {
      const { completionScript, SHELLS } = await import('../completion/scripts.ts');
      const shell = SHELLS.find((each) => each === text);
      if (shell === undefined) {
        throw new UsageError(`the shell is "${text}", allowed are ${SHELLS.join(', ')}`);
      }
      const called = program.name() === 'lockstep' ? 'lockstep' : 'kubectl-lockstep';
      process.stdout.write(completionScript(shell, called));
    });
}
