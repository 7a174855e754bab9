/**
 * `lockstep status` as a user sees it: one JobSet, once, as JSON, and live while a worker dies; and
 * lists of JobSets, also as a plugin of kubectl.
 */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WorkerGroup } from '../../src/bench/worker-group.ts';
import { connectTo } from '../../src/cli/cluster-connection.ts';
import { HubMembers } from '../../src/cli/jobset-status/hub-members.ts';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import { hasKubectl, KUBECTL } from './kubectl.fixture.ts';
import {
  type ClusterUnderTest,
  LOCKSTEP,
  outputUntil,
  startCluster,
} from './local-cluster.fixture.ts';

const SIZE = 3;
/** Two seconds for the cluster, and as much again. */
const LATEST_ANSWER_MS = 4000;
/** An answer takes no longer than so many starts of the command beside that. */
const STARTS = 3;
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
  expect(stdout).toMatch(/^shown: Running, (step \d+, )?3 of 3 workers, 0 of \d+ restarts used\n/);
  expect(stdout.match(/ Running +1 .*-\n/g)).toHaveLength(SIZE);
  expect((await status('shown', '-o', 'wide')).stdout.match(/ Running +1 +Hub /g)).toHaveLength(
    SIZE,
  );
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
  // A look may ask the hub about the next epoch while the status is still the old one.
  const restart = Promise.all(
    ['epoch 1 ended', 'epoch 2 over Hub, epoch 1: was killed by SIGKILL'].map((text) =>
      outputUntil(command, text),
    ),
  );
  group.kill(1);
  await group.running(2);
  await restart;
  command.kill('SIGINT');
  expect(await ended).toBe(0);
  expect(output).toMatch(/epoch 1 ended: .*worker 1\b.*SIGKILL/);

  const { stdout } = await status('shown', '-o', 'json');
  const { jobSet, members } = JSON.parse(stdout) as {
    readonly jobSet: object;
    readonly members: readonly { readonly index: string; readonly lastCause: object | null }[];
  };
  expect(jobSet).toMatchObject({ epoch: 2, state: 'Released', inPlaceRestarts: 1 });
  expect(members.map(({ index, lastCause }) => [index, lastCause])).toEqual([
    ['0', null],
    ['1', { epoch: 1, signal: 'SIGKILL', why: 'was killed by SIGKILL', confidence: 'Certain' }],
    ['2', null],
  ]);
});

describe('a list', () => {
  // A group that waits for its first step for minutes says so.
  const WORKS =
    /^shown +Running(, no step for \S+ since the release)? +2 +3\/3 +1\/\d+ +\S+ +\S+ ago: worker 1\b.* \d+\S*$/m;

  it('has a row for each JobSet, as tables of kubectl have', async () => {
    const { exitCode, stdout, stderr } = await status();
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^NAME +STATE +EPOCH +READY +RESTARTS +GOODPUT +LAST FAILURE +AGE\n/);
    expect(stdout).toMatch(WORKS);
    expect((await status('-A', '--no-headers')).stdout).toMatch(/^default +shown +Running /m);
  });

  it('can be joined with other commands by names', async () => {
    const { stdout } = await status('-o=name');
    const reference = 'jobset.jobset.x-k8s.io/shown';
    expect(stdout.split('\n')).toContain(reference);
    expect((await status(reference)).stdout).toMatch(/^shown: Running, /);
    expect((await status(reference, '-o', 'name')).stdout).toBe(`${reference}\n`);
  });

  it('is data', async () => {
    const { items } = JSON.parse((await status('-A', '-o', 'json')).stdout) as {
      readonly items: readonly { readonly name: string }[];
    };
    expect(items.find(({ name }) => name === 'shown')).toMatchObject({
      namespace: 'default',
      state: 'Released',
      epoch: 2,
      ready: SIZE,
      size: SIZE,
      restarts: 1,
      lastFailure: { text: expect.stringMatching(/^worker 1\b.*SIGKILL/) },
    });
    expect((await status('-l', 'nobody=has', '-o', 'yaml')).stdout).toBe('items: []\n');
  });

  it('names what is not there beside what is', async () => {
    const { exitCode, stdout, stderr } = await status('shown', 'hidden');
    expect([exitCode, stderr]).toEqual([1, 'lockstep: there is no JobSet default/hidden\n']);
    expect(stdout).toMatch(WORKS);
  });

  it('is followed until Ctrl-C', async () => {
    const argv = [LOCKSTEP, 'status', '--watch', '--kubeconfig', cluster.kubeconfig];
    const command = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise((resolve) => command.once('exit', resolve));
    await outputUntil(command, 'shown');
    const suspended = outputUntil(command, 'Suspended');
    const at = { namespace: 'default', name: 'shown' };
    await cluster.client.patch(JOBSETS, at, { type: 'merge', patch: { spec: { suspend: true } } });
    await suspended;
    command.kill('SIGINT');
    expect(await ended).toBe(0);
  });
});

describe.runIf(hasKubectl())('as a plugin of kubectl', () => {
  let programs: string;
  beforeAll(() => {
    programs = mkdtempSync(join(tmpdir(), 'lockstep-plugin-'));
    for (const name of ['kubectl-lockstep', 'kubectl_complete-lockstep']) {
      symlinkSync(LOCKSTEP.replace('lockstep.js', `${name}.js`), join(programs, name));
    }
  });
  afterAll(() => {
    rmSync(programs, { recursive: true, force: true });
  });

  function kubectl(...args: readonly string[]): ReturnType<typeof spawnSync> {
    const path = `${programs}${delimiter}${process.env['PATH']}`;
    const env = { ...process.env, PATH: path, KUBECONFIG: cluster.kubeconfig };
    return spawnSync(KUBECTL, args, { env, encoding: 'utf8' });
  }

  it('runs, and calls itself what the user called', () => {
    expect(kubectl('lockstep', 'status', '-o', 'name').stdout).toContain('/shown\n');
    expect(kubectl('lockstep', '--help').stdout).toMatch(/^Usage: kubectl lockstep /);
    const unknown = kubectl('lockstep', 'unknown');
    expect(unknown.status).toBe(2);
    expect(unknown.stderr).toContain('(kubectl lockstep --help shows the commands');
  });

  it('is completed with names from the cluster', async () => {
    // A completion gives up after 2 s, in which a busy cluster may not answer.
    await until('JobSets are named', () =>
      expect(kubectl('__complete', 'lockstep', 'status', '').stdout).toMatch(
        /^shown\n(?:.*\n)*:4\n$/m,
      ),
    );
    expect(kubectl('__complete', 'lockstep', 'rep').stdout).toMatch(/^report\t.*\n:4\n$/);
    await until('namespaces are named', () =>
      expect(kubectl('__complete', 'lockstep', 'logs', '-n', 'kube-s').stdout).toBe(
        'kube-system\n:4\n',
      ),
    );
  });
});

it('completes nothing, soon and in silence, if no cluster answers', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  try {
    const directory = mkdtempSync(join(tmpdir(), 'lockstep-silent-'));
    const kubeconfig = join(directory, 'kubeconfig');
    const { port } = silent.address() as AddressInfo;
    const cluster = { server: `https://127.0.0.1:${port}` };
    const config = {
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a' } }],
      clusters: [{ name: 'a', cluster }],
    };
    writeFileSync(kubeconfig, JSON.stringify(config));
    const completed = (...args: readonly string[]) => {
      const from = performance.now();
      const argv = [LOCKSTEP, '__complete', ...args];
      const { stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
      return { stdout, stderr, tookMs: performance.now() - from };
    };
    const { tookMs: startMs } = completed('stat');
    const { stdout, stderr, tookMs } = completed('status', '--kubeconfig', kubeconfig, '');
    expect([stdout, stderr]).toEqual([':4\n', '']);
    expect(tookMs).toBeLessThan(LATEST_ANSWER_MS + STARTS * startMs);
    rmSync(directory, { recursive: true });
  } finally {
    silent.close();
  }
});

it.each<[readonly string[], number, RegExp]>([
  [['show'], 1, /there is no JobSet default\/show; in namespace default there are .*shown/],
  [['shown', '--namespace', 'nowhere'], 1, /no JobSet nowhere\/shown, nor any other in namespace/],
  [['default/shown'], 2, /the name of the JobSet is "default\/shown": /],
  [['shown', '-o', 'xml'], 2, /--output is "xml", allowed are json, yaml, wide, name\n$/],
  [['-o', 'xml'], 2, /--output is "xml", allowed are json, yaml, wide, name\n$/],
  [['-A', 'shown'], 2, /^lockstep: --all-namespaces and JobSet "shown": .*\n$/],
  [['-A', '-n', 'default'], 2, /^lockstep: --all-namespaces and --namespace "default": .*\n$/],
  [['-n', 'nowhere'], 0, /^No resources found in nowhere namespace\.\n$/],
])('says what is wrong with %j', async (args, exitCode, text) => {
  const result = await status(...args);
  expect(result.stderr).toMatch(text);
  expect([result.exitCode, result.stdout]).toEqual([exitCode, '']);
});
