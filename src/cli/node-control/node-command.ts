import { resolve } from 'node:path';
import { NODE_ACTIONS, type NodeAction } from '../../cluster/node-process/node-processes.ts';
import { type NodeCommand, sendControl } from './control-socket.ts';

const DONE: Readonly<Record<NodeAction, string>> = {
  kill: 'killed',
  stop: 'stopped',
  start: 'started',
};

export function parseNodeAction(
  text: string,
): { readonly action: NodeAction } | { readonly error: string } {
  const action = NODE_ACTIONS.find((each) => each === text);
  if (action !== undefined) return { action };
  return { error: `the action is "${text}", allowed are ${NODE_ACTIONS.join(', ')}` };
}

/** Says what was done; rejects with `ControlError`. */
export async function actOnNode(stateDirectory: string, command: NodeCommand): Promise<void> {
  await sendControl(resolve(stateDirectory), command);
  process.stdout.write(`node ${command.node} ${DONE[command.action]}\n`);
}
