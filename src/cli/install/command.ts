/** Runs `lockstep install` and `uninstall`. */
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { UsageError } from '../arguments.ts';
import { withoutRights } from '../cluster-connection.ts';
import { withCluster } from '../named-jobset.ts';
import { tell } from '../tell.ts';
import type { CommandContext } from './command-context.ts';
import { install, installationYaml } from './install.ts';
import type { InstallOptions } from './options.ts';
import { uninstall } from './uninstall.ts';

/** Runs one of them against the cluster of the flags; returns its exit code. */
export async function installCommand(
  name: 'install' | 'uninstall',
  options: InstallOptions,
  deleteJobSets: boolean,
): Promise<number> {
  if (options.output !== undefined) {
    const made = installationYaml(options);
    if ('problems' in made) throw new UsageError(made.problems.join('\n'));
    process.stdout.write(made.yaml);
    return 0;
  }
  try {
    return await withCluster(options.connection, ({ client, serverVersion, signal }) => {
      const context: CommandContext = {
        client,
        serverVersion,
        clock: nodeClock,
        signal,
        print: (line) => process.stdout.write(`${line}\n`),
        warn: tell,
      };
      switch (name) {
        case 'install':
          return install(context, options);
        case 'uninstall':
          return uninstall(context, { ...options, deleteJobSets });
      }
    });
  } catch (error) {
    throw withoutRights(error);
  }
}
