/** Commands about an installation in a cluster. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import packageJson from '../../../package.json' with { type: 'json' };
import { DEFAULT_NAMESPACE } from '../../deploy/settings.ts';
import { optionsOf } from '../arguments.ts';
import type { ConnectionFlags } from '../cluster-connection.ts';
import type { DoctorFlags } from '../doctor/command.ts';
import { INSTALL_SETTINGS } from '../install/install-settings.ts';
import type { InstallFlags, InstallOptions } from '../install/options.ts';
import { bareJobSetName, clusterCommand } from './cluster-command.ts';

const NAMESPACE_HELP = 'namespace of the operator';

export function addInstallationCommands(program: Command): void {
  const install = installationCommand(
    program,
    'install',
    'install the operator in a cluster and wait until it is ready',
  )
    .option(
      '--config <file>',
      'Configuration file of the operator; what earlier installations were given stays without it',
    )
    .option('--reset', 'drop what earlier installations were given, and edits by hand')
    .option('--operator-image <image>', 'image of the operator')
    .option('--registry <prefix>', 'registry, and perhaps a path, before the names of both images')
    .option(
      '--image-pull-secret <names...>',
      "Secrets of the operator's namespace for the registry of its image",
    )
    .option('--no-image-pull-secret', 'use no such Secrets any more')
    .option(
      '--operator-memory <quantity>',
      'memory limit of the operator; follows --max-streams by default',
    )
    .option(
      '--webhooks <whether>',
      'on or off: whether API servers ask the operator about JobSets (default: on)',
    )
    .option('--network-policy', 'add a NetworkPolicy that limits who may reach the operator')
    .option('--no-network-policy', 'remove it')
    .option(
      '--watch-namespace <names...>',
      'confine the operator and its rights to these namespaces',
    )
    .option('--no-watch-namespace', 'act in all namespaces again')
    .option('--monitoring', 'add a ServiceMonitor and alert rules for the Prometheus operator')
    .option('--no-monitoring', 'remove them')
    .option(
      '--only-managed',
      "run beside upstream's controller, and act only on JobSets with spec.managedBy lockstep/jobset-controller",
    )
    .option('--no-only-managed', 'act on all JobSets again')
    .option('--replace-crd', 'replace the CustomResourceDefinition of another JobSet controller')
    .option('--timeout <seconds>', 'how long to wait until everything is ready', '120')
    .option('--dry-run', 'ask the API server whether it accepts everything, and change nothing')
    .option('-o, --output <format>', 'yaml: print the manifest without asking a cluster')
    .action(async (flags: InstallFlags) => {
      const { installCommand } = await import('../install/command.ts');
      process.exitCode = await installCommand('install', await installOptions(flags), false);
    });

  for (const [, { flag, help, type, negated }] of INSTALL_SETTINGS) {
    install.option(
      type.placeholder === undefined ? `${flag}` : `${flag} <${type.placeholder}>`,
      help,
    );
    if (negated !== undefined) install.option(`${flag?.replace('--', '--no-')}`, negated);
  }

  clusterCommand(
    program,
    'doctor',
    'say what this cluster can do, what is missing, and how to mend it; it only reads',
  )
    .argument('[jobset]', 'JobSet like whose Pods that of --probe is', bareJobSetName)
    .option(
      '-n, --namespace <name>',
      `${NAMESPACE_HELP}; found by itself by default. With a JobSet, its own`,
    )
    .option('--jobset-namespace <name>', "namespace of your JobSets; the context's by default")
    .option('--probe', 'make a Pod there that looks from inside, and remove it')
    .option('--image <image>', "image of that Pod; the agent's by default")
    .option('-o, --output <format>', 'json')
    .action(async (jobSet: string | undefined, flags: DoctorFlags & ConnectionFlags) => {
      const { doctor, parseDoctor } = await import('../doctor/command.ts');
      process.exitCode = await doctor(optionsOf(parseDoctor(jobSet, flags)), flags);
    });

  installationCommand(
    program,
    'uninstall',
    'remove the operator from a cluster; JobSets and their Pods stay',
  )
    .option('--delete-jobsets', 'also remove the JobSet API, and all JobSets with it')
    .option('--dry-run', 'only print what would be removed')
    .action(async (flags: InstallFlags & { readonly deleteJobsets?: boolean }) => {
      const { installCommand } = await import('../install/command.ts');
      const options = await installOptions({ ...flags, monitoring: true, networkPolicy: true });
      process.exitCode = await installCommand('uninstall', options, flags.deleteJobsets === true);
    });
}

function installationCommand(program: Command, name: string, description: string): Command {
  return clusterCommand(program, name, description).option(
    '-n, --namespace <name>',
    NAMESPACE_HELP,
    DEFAULT_NAMESPACE,
  );
}

async function installOptions(flags: InstallFlags): Promise<InstallOptions> {
  const { parseInstallFlags } = await import('../install/options.ts');
  const readFile = (path: string): string => readFileSync(path, 'utf8');
  return optionsOf(parseInstallFlags(flags, packageJson.version, readFile));
}
