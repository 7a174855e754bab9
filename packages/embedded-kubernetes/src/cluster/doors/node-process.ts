/** Nodes as processes of their own. `../node-process/main.ts` is their program. */
export { forkNode } from '../node-process/adapters/forked-node.ts';
export type { NodeChild } from '../node-process/node-process.ts';
export { NODE_ACTIONS, type NodeAction, NodeProcesses } from '../node-process/node-processes.ts';
