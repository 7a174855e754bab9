/**
 * The files with which an agent runs in any image: a tree of the agent's image with Node, its
 * libraries and their loader. It needs nothing of the other image, not even a C library.
 */

/** Paths in the root of the agent's image, and wherever the tree is put. */
export const AGENT_TREE = {
  root: 'lockstep',
  programs: 'lockstep/bin',
  libraries: 'lockstep/lib',
} as const;
export const AGENT_NODE = 'lockstep/bin/node';
/** A link to the dynamic loader, whose own name depends on the machine's architecture. */
export const AGENT_LOADER = 'lockstep/lib/ld.so';
export const AGENT_SCRIPT = 'lockstep/agent.js';

/**
 * Starts the agent from its tree in `directory`, an absolute path. The libraries' path is an
 * argument of the loader, not in the environment, which a worker would inherit.
 */
export function agentTreeCommand(directory: string): readonly string[] {
  const at = (path: string): string => `${directory}/${path}`;
  const libraries = ['--library-path', at(AGENT_TREE.libraries)];
  return [at(AGENT_LOADER), ...libraries, at(AGENT_NODE), at(AGENT_SCRIPT)];
}
