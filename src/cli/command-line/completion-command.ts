/** The command that prints completion scripts. */
import type { Command } from 'commander';
import { choiceOf } from '../arguments.ts';

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
      const shell = choiceOf('the shell', text, SHELLS);
      const called = program.name() === 'lockstep' ? 'lockstep' : 'kubectl-lockstep';
      process.stdout.write(completionScript(shell, called));
    });
}
