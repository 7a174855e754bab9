/**
 * How `lockstep node` and `lockstep down` reach the `lockstep up` of a state directory: one line of
 * JSON each way over a socket in it, which only its owner can open.
 */
import { rmSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { NODE_ACTIONS, type NodeAction } from '@lockstep/embedded-kubernetes/node-process';
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import { choiceOf } from '../arguments.ts';

export interface NodeCommand {
  readonly node: string;
  readonly action: NodeAction;
}

/** A command for a cluster: an action on one of its nodes, or its end. */
export type ControlCommand = NodeCommand | { readonly action: 'end' };

/** A node that is started has 10 s to register. */
const ANSWER_TIMEOUT_MS = 30_000;
const MAX_LINE_BYTES = 64 * 1024;
/** The limit for a socket's path on Linux; macOS has 104. */
const MAX_PATH_BYTES = 103;

/** The socket could not be reached, or the other side refused. */
export class ControlError extends Error {
  override readonly name = 'ControlError';
}

export function controlPath(stateDirectory: string): string {
  return join(stateDirectory, 'control.sock');
}

/**
 * Serves commands until the result is called. If the directory's path is too long for a socket
 * there is none, and these commands then say so.
 */
export async function serveControl(
  stateDirectory: string,
  carryOut: (command: ControlCommand) => Promise<void>,
): Promise<() => Promise<void>> {
  const path = controlPath(stateDirectory);
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return async () => undefined;
  // A killed process left it behind; the owner of the directory owns the socket.
  rmSync(path, { force: true });
  const server = createServer((socket) => void answer(socket, carryOut));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
    });
}

/** Rejects with `ControlError`. */
export async function sendControl(stateDirectory: string, command: ControlCommand): Promise<void> {
  const path = controlPath(stateDirectory);
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new ControlError(
      `${stateDirectory} is too long for the path of a socket: choose a shorter --state-dir`,
    );
  }
  const socket = createConnection(path);
  socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy(new Error('no answer')));
  socket.write(`${JSON.stringify(command)}\n`);
  const line = await lineOf(socket).catch((error: unknown) => {
    throw new ControlError(whyUnreachable(stateDirectory, error), { cause: error });
  });
  const value: unknown = JSON.parse(line);
  if (isJsonObject(value) && typeof value['error'] === 'string') {
    throw new ControlError(value['error']);
  }
}

/** Without a socket, or with one that a killed process has left, there is no cluster. */
function whyUnreachable(stateDirectory: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ECONNREFUSED'
    ? `no "lockstep up" runs in ${stateDirectory}: if yours has another state directory, name it with --state-dir`
    : `the "lockstep up" in ${stateDirectory} cannot be asked: ${message}`;
}

async function answer(
  socket: Socket,
  carryOut: (command: ControlCommand) => Promise<void>,
): Promise<void> {
  socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy());
  try {
    const command = parsed(await lineOf(socket));
    await carryOut(command);
    socket.end('{}\n');
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    socket.end(`${JSON.stringify({ error: text })}\n`);
  }
}

function parsed(line: string): ControlCommand {
  const value: unknown = JSON.parse(line);
  if (isJsonObject(value)) {
    const { node, action } = value;
    if (action === 'end') return { action };
    const known = NODE_ACTIONS.find((each) => each === action);
    if (typeof node === 'string' && known !== undefined) return { node, action: known };
  }
  throw new ControlError('the command is not understood');
}

function lineOf(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end >= 0) resolve(text.slice(0, end));
      else if (text.length > MAX_LINE_BYTES) socket.destroy(new Error('too long a line'));
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed')));
  });
}

const DONE: Readonly<Record<NodeAction, string>> = {
  kill: 'killed',
  stop: 'stopped',
  start: 'started',
};

/** Prints what was done; rejects with `ControlError`, or `UsageError` for another action. */
export async function actOnNode(stateDirectory: string, node: string, text: string): Promise<void> {
  const action = choiceOf('the action', text, NODE_ACTIONS);
  await sendControl(resolve(stateDirectory), { node, action });
  process.stdout.write(`node ${node} ${DONE[action]}\n`);
}
