import type { Command } from 'commander';

/** Fixed, so that an open page finds a server that was started again. No registered service has it. */
export const DASHBOARD_PORT = 8475;

/**
 * The name alone of what `-o name` prints: `jobset/train`, `jobset.jobset.x-k8s.io/train`, and their
 * plurals.
 */
export function bareJobSetName(text: string): string {
  return text.replace(REFERENCE, '');
}

const REFERENCE = /^jobsets?(?:(?:\.v1alpha2)?\.jobset\.x-k8s\.io)?\//i;

/** A command that reads a cluster by a kubeconfig. */
export function clusterCommand(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .option('--kubeconfig <file>', "kubeconfig file; kubectl's by default")
    .option('--context <name>', 'context to use instead of the current one');
}
