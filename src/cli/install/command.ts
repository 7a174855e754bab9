/** Runs `lockstep install` and `uninstall`. */
import { nodeClock } from '../../runtime/adapters/node-clock.ts';
import { connectTo, withoutRights } from '../cluster-connection.ts';
import { onTermination } from '../termination.ts';
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
    process.stdout.write(installationYaml(options));
    return 0;
  }
  const termination = onTermination();
  const { signal } = termination;
  try {
    const { client, serverVersion, close } = await connectTo(options.connection, signal);
    const context: CommandContext = {
      client,
      serverVersion,
      clock: nodeClock,
      signal,
      print: (line) => process.stdout.write(`${line}\n`),
      warn: (line) => process.stderr.write(`lockstep: ${line}\n`),
    };
    try {
      switch (name) {
        case 'install':
          return await install(context, options);
        case 'uninstall':
          return await uninstall(context, { ...options, deleteJobSets });
      }
    } finally {
      close();
    }
  } catch (error) {
    const code = termination.exitCode();
    if (code !== undefined) return code;
    throw withoutRights(error);
  } finally {
    termination.dispose();
  }
}
