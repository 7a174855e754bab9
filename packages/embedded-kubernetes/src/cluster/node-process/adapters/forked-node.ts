/** Starts the process of a node. */
import { fork } from 'node:child_process';
import type { FromNode } from '../node-messages.ts';
import type { NodeChild } from '../node-process.ts';

/** Runs `script` as a node in its own process group; its output goes to the descriptor `log`. */
export function forkNode(script: string, log: number): NodeChild {
  const child = fork(script, [], {
    detached: true,
    serialization: 'advanced',
    stdio: ['ignore', log, log, 'ipc'],
  });
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  return {
    pid: child.pid ?? 0,
    exited,
    // The child may be gone, or about to go; `exited` reports that.
    send: (message) => void (child.connected && child.send(message, () => undefined)),
    onMessage: (handler) => child.on('message', (message) => handler(message as FromNode)),
    signal: (signal) => void child.kill(signal),
  };
}
