/** `lockstep status JOBSET` as a user sees it: once, as JSON, and live while a worker dies. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WorkerGroup } from '../../src/bench/worker-group.ts';
import { connectTo } from '../../src/cli/cluster-connection.ts';
import { HubMembers } from '../../src/cli/jobset-status/hub-members.ts';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import { nodeClock } from '../../src/runtime/adapters/node-clock.ts';
import type { Client } from '../../src/runtime/client/client.ts';
import {
  type ClusterUnderTest,
  LOCKSTEP,
  outputUntil,
  startCluster,
} from './local-cluster.fixture.ts';

const SIZE = 3;
const { signal } = new AbortController();

let cluster: ClusterUnderTest;
let group: WorkerGroup;
beforeAll(async () => {
  cluster = await startCluster();
  group = await WorkerGroup.start({
    client: cluster.client,
    directory: cluster.shared,
    name: 'shown',
    size: SIZE,
    mode: 'Supervisor',
  });
  await group.running(1);
});
afterAll(async () => {
  await group.remove();
  await cluster.stop();
});

interface Result {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

function status(...args: readonly string[]): Promise<Result> {
  const argv = [LOCKSTEP, 'status', ...args, '--kubeconfig', cluster.kubeconfig];
  return new Promise((resolve) => {
    execFile(process.execPath, argv, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}

function watch(): ChildProcess {
  const argv = [LOCKSTEP, 'status', 'shown', '--watch', '--kubeconfig', cluster.kubeconfig];
  return spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
}

it('shows every member with its epoch, node and channel', async () => {
  const { exitCode, stdout, stderr } = await status('shown');
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^JobSet default\/shown: epoch 1, released; 0 restarts in place/);
  expect(stdout.match(/ Running +1 +Hub +-\n/g)).toHaveLength(SIZE);
});

it('asks the hub through a member, for a user without a route to the hub', async () => {
  const connection = await connectTo({ kubeconfig: cluster.kubeconfig }, signal);
  const hub = new HubMembers(
    { ...connection, client: withoutTokens(connection.client) },
    nodeClock,
  );
  try {
    const at = { namespace: 'default', name: 'shown' };
    const { uid } = (await connection.client.get(JOBSETS, at)).metadata;
    expect(await hub.ask(uid, group.livePods(), signal)).toEqual({
      reports: expect.objectContaining({ length: SIZE }),
    });
    expect(await hub.ask('of-another-group', group.livePods(), signal)).toEqual({
      problem: expect.stringContaining('answered 404: only the members of its own group'),
    });
  } finally {
    connection.close();
  }
});

/** A client for a user who may not make tokens, so that the hub refuses them. */
function withoutTokens(client: Client): Client {
  return {
    ...client,
    createSubresource: () => Promise.reject(new Error('no tokens')),
  };
}

it('tells each change while it looks on, and ends well with Ctrl-C', async () => {
  const command = watch();
  const ended = new Promise((resolve) => command.once('exit', resolve));
  let output = '';
  command.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await outputUntil(command, 'epoch 1 over Hub');
  group.kill(1);
  await group.running(2);
  await outputUntil(command, 'epoch 2 over Hub, killed by SIGKILL in epoch 1');
  command.kill('SIGINT');
  expect(await ended).toBe(0);
  expect(output).toMatch(/epoch 1 ended: WorkerFailed, container worker of Pod \S+ .*SIGKILL/);

  const { stdout } = await status('shown', '-o', 'json');
  const { jobSet, members } = JSON.parse(stdout) as {
    readonly jobSet: object;
    readonly members: readonly { readonly index: string; readonly lastCause: object | null }[];
  };
  expect(jobSet).toMatchObject({ epoch: 2, state: 'Released', inPlaceRestarts: 1 });
  expect(members.map(({ index, lastCause }) => [index, lastCause])).toEqual([
    ['0', null],
    ['1', { epoch: 1, signal: 'SIGKILL' }],
    ['2', null],
  ]);
});

it.each<[readonly string[], number, RegExp]>([
  [['show'], 1, /there is no JobSet default\/show; in namespace default there are .*shown/],
  [['shown', '--namespace', 'nowhere'], 1, /no JobSet nowhere\/shown, nor any other in namespace/],
  [['default/shown'], 2, /the name of the JobSet is "default\/shown": /],
  [['shown', '-o', 'wide'], 2, /--output is "wide", allowed is json/],
  [['--watch'], 2, /--watch is for a JobSet: lockstep status JOBSET --watch/],
])('says what is wrong with %j', async (args, exitCode, text) => {
  const result = await status(...args);
  expect(result.stderr).toMatch(text);
  expect([result.exitCode, result.stdout]).toEqual([exitCode, '']);
});
