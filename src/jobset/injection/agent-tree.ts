/**
 * The files that an agent runs from in any image: a tree of the agent's image with Node, its libraries and
 * their loader, so that it needs nothing of the image into which it is put, not even a C library.
 */

/** Paths in the root of the agent's image, and in every place to which the tree comes. */
export const AGENT_TREE = {
  root: 'lockstep',
  programs: 'lockstep/bin',
  libraries: 'lockstep/lib',
} as const;
export const AGENT_NODE = 'lockstep/bin/node';
/** A link to the dynamic loader, whose own name tells of the machine's architecture. */
export const AGENT_LOADER = 'lockstep/lib/ld.so';
export const AGENT_SCRIPT = 'lockstep/agent.js';

/**
 * Starts the agent from its tree in `directory`, an absolute path. The loader is told where its
 * libraries are, not the environment: a worker would inherit that.
 */
export function agentTreeCommand(directory: string): readonly string[] {
  const at = (path: string): string => `${directory}/${path}`;
  const libraries = ['--library-path', at(AGENT_TREE.libraries)];
  return [at(AGENT_LOADER), ...libraries, at(AGENT_NODE), at(AGENT_SCRIPT)];
}
