import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type ControlCommand,
  ControlError,
  controlPath,
  sendControl,
  serveControl,
} from './control-socket.ts';

let directory: string;
let received: ControlCommand[];
let close: () => Promise<void>;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-control-'));
  received = [];
  close = await serveControl(directory, async (command) => {
    if ('node' in command && command.node === 'nobody')
      throw new Error('there is no node "nobody"');
    received.push(command);
  });
});

afterEach(async () => {
  await close();
  rmSync(directory, { recursive: true });
});

test('a command arrives and is confirmed', async () => {
  await sendControl(directory, { node: 'node-0', action: 'kill' });
  expect(received).toEqual([{ node: 'node-0', action: 'kill' }]);
});

test('the end of a cluster can be asked for', async () => {
  await sendControl(directory, { action: 'end' });
  expect(received).toEqual([{ action: 'end' }]);
});

test('reports refusals', async () => {
  await expect(sendControl(directory, { node: 'nobody', action: 'stop' })).rejects.toThrow(
    'there is no node "nobody"',
  );
});

test.each([
  ['no JSON', 'hello\n'],
  ['another action', '{"node":"node-0","action":"explode"}\n'],
  ['no node', '{"action":"kill"}\n'],
])('%s is refused and does nothing', async (_, line) => {
  const socket = createConnection(controlPath(directory));
  socket.write(line);
  const answer = await new Promise<string>((resolve) => {
    socket.once('data', (chunk) => resolve(chunk.toString()));
  });
  expect(answer).toContain('"error"');
  expect(received).toEqual([]);
});

test('a directory where nothing runs is named, and no error of the system', async () => {
  const there = 'if yours has another state directory, name it with --state-dir';
  await expect(sendControl('/no/such', { action: 'end' })).rejects.toThrow(
    new ControlError(`no "lockstep up" runs in /no/such: ${there}`),
  );
  await close();
  const killed = createServer().listen(controlPath(directory));
  await once(killed, 'listening');
  renameSync(controlPath(directory), join(directory, 'left'));
  await new Promise((resolve) => killed.close(resolve));
  renameSync(join(directory, 'left'), controlPath(directory));
  await expect(sendControl(directory, { action: 'end' })).rejects.toThrow(
    new ControlError(`no "lockstep up" runs in ${directory}: ${there}`),
  );
});

test('one that hangs up is distinguished from none', async () => {
  await close();
  const server = createServer((socket) => socket.destroy()).listen(controlPath(directory));
  await once(server, 'listening');
  await expect(sendControl(directory, { action: 'end' })).rejects.toThrow(
    `the "lockstep up" in ${directory} cannot be asked: `,
  );
  await new Promise((resolve) => server.close(resolve));
});

test('a path that is too long for a socket is reported', async () => {
  const long = join(directory, 'x'.repeat(100));
  const closeNothing = await serveControl(long, async () => undefined);
  await closeNothing();
  await expect(sendControl(long, { node: 'n', action: 'kill' })).rejects.toThrow(
    /choose a shorter --state-dir/,
  );
});

test('a socket that a killed process has left is replaced', async () => {
  const closeAgain = await serveControl(directory, async (command) => {
    received.push(command);
  });
  await sendControl(directory, { node: 'node-1', action: 'start' });
  expect(received).toEqual([{ node: 'node-1', action: 'start' }]);
  await closeAgain();
});
