/** Installs the agent into a volume, so that it can start in a container of any image. */
import { cp, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AGENT_LOADER, AGENT_TREE } from '../../jobset/injection/agent-tree.ts';

/** This image is not an agent's, or the directory cannot take the agent. */
export class InstallError extends Error {
  override readonly name = 'InstallError';
}

/**
 * Copies the directory that holds `script`, the agent's file, to `directory`. The copy appears all
 * at once. It replaces a copy from before a restart, which may have another version.
 */
export async function installAgent(script: string, directory: string): Promise<void> {
  const root = dirname(dirname(script));
  try {
    await stat(join(root, AGENT_LOADER));
  } catch (error) {
    const why = `expected an image of the agent, but there is no ${join(root, AGENT_LOADER)}`;
    throw new InstallError(why, { cause: error });
  }
  const target = join(directory, AGENT_TREE.root);
  const beside = `${target}.next`;
  try {
    await rm(beside, { recursive: true, force: true });
    await cp(join(root, AGENT_TREE.root), beside, { recursive: true, verbatimSymlinks: true });
    await rm(target, { recursive: true, force: true });
    await rename(beside, target);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new InstallError(`the agent cannot be copied to ${directory}: ${why}`, { cause: error });
  }
}
