/**
 * The bundled agent as a process, over TLS against the API server under test: credentials, marker
 * file, barrier, worker, signals and exit codes. The test plays the controller and the kubelet.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { freePort } from '@lockstep/kube/runtime/adapters/free-ports.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { build } from 'esbuild';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
} from 'vitest';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import { EPOCH, IN_PLACE_RESTART_ATTEMPT, NOTICE } from '../../src/jobset/names.ts';
import { parseNotice } from '../../src/jobset/worker-end/notice.ts';
import {
  type ApiUnderTest,
  createAccount,
  installJobSets,
  removeAccount,
  startApi,
  tokenOf,
} from './api-server.fixture.ts';

const LIMIT_MS = 60_000;
const AT = { namespace: 'default', name: 'train' };
/** A scheduler and a controller that do not exist, so that only the test handles the Pod. */
const ABSENT = 'example.com/absent';
const JOB_REFERENCE = { apiVersion: 'batch/v1', kind: 'Job', name: 'train-w-0' };
const JOB = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { namespace: AT.namespace, name: JOB_REFERENCE.name },
  spec: {
    managedBy: ABSENT,
    template: {
      spec: { restartPolicy: 'Never', containers: [{ name: 'worker', image: 'none' }] },
    },
  },
} as const;
/** The service account of agents. */
const ACCOUNT = { namespace: AT.namespace, name: 'agent-process' };
let folder: string;
let bundle: string;
let api: ApiUnderTest;
beforeAll(async () => {
  api = await startApi();
  const { client } = api;
  await installJobSets(client);
  await createAccount(client, ACCOUNT);
  folder = await mkdtemp(join(tmpdir(), 'lockstep-agent-'));
  bundle = join(folder, 'agent.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, '../../src/agent/main.ts')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    logLevel: 'error',
  });
});
afterAll(async () => {
  await removeAccount(api.client, ACCOUNT);
  await api.stop();
  await rm(folder, { recursive: true, force: true });
});

/** One JobSet and one Pod on the API server, and the file system of that Pod. */
class Scene {
  readonly root: string;
  readonly client: Client;
  readonly agents: ChildProcess[] = [];
  readonly #api: ApiUnderTest;
  #environment: Record<string, string> = {};

  constructor(root: string, server: ApiUnderTest) {
    this.root = root;
    this.#api = server;
    this.client = server.client;
  }

  async start(): Promise<void> {
    const { client } = this;
    const container = { name: 'worker', image: 'none' };
    const template = { spec: { template: { spec: { containers: [container] } } } };
    const jobSet = await client.create(JOBSETS, {
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      metadata: AT,
      spec: {
        replicatedJobs: [{ name: 'w', replicas: 1, template }],
        failurePolicy: { restartStrategy: 'InPlaceRestart' },
      },
    });
    const { uid } = await client.create(JOBS, JOB).then(({ metadata }) => metadata);
    const owner = { ...JOB_REFERENCE, uid, controller: true };
    const pod = await client.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...AT, annotations: { any: 'thing' }, ownerReferences: [owner] },
      spec: {
        schedulerName: ABSENT,
        serviceAccountName: ACCOUNT.name,
        containers: [container],
      },
    });
    const { access } = this.#api;
    await this.#mount(access.tls.certificateAuthority ?? '');
    const { hostname, port } = new URL(access.server);
    this.#environment = {
      PATH: process.env['PATH'] ?? '',
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
      LOCKSTEP_ROOT: this.root,
      LOCKSTEP_MARKER_DIRECTORY: '/marker',
      NAMESPACE: AT.namespace,
      POD_NAME: pod.metadata.name,
      POD_UID: pod.metadata.uid,
      POD_IP: '127.0.0.1',
      JOBSET_NAME: AT.name,
      JOBSET_UID: jobSet.metadata.uid,
      REPLICATED_JOB_NAME: 'w',
    };
  }

  async #mount(authority: string): Promise<void> {
    const account = join(this.root, 'var/run/secrets/kubernetes.io/serviceaccount');
    await mkdir(account, { recursive: true });
    await mkdir(join(this.root, 'marker'));
    await writeFile(join(account, 'ca.crt'), authority);
    await writeFile(join(account, 'token'), `${await tokenOf(this.client, ACCOUNT)}\n`);
    await writeFile(join(account, 'namespace'), AT.namespace);
  }

  run(
    args: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
  ): RunningAgent {
    const agent = new RunningAgent(
      spawn(process.execPath, [bundle, ...args], {
        env: { ...this.#environment, ...environment },
        cwd: this.root,
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
    );
    this.agents.push(agent.process);
    return agent;
  }

  /** Plays the controller. */
  async setStatus(deprecated: number, released: number): Promise<void> {
    const counts = { ready: 0, succeeded: 0, failed: 0, active: 0, suspended: 0 };
    const replicatedJobsStatus = [{ name: 'w', ...counts, syncedEpoch: released }];
    const status = { deprecatedEpoch: deprecated, replicatedJobsStatus };
    const patch = { type: 'merge', patch: { status } } as const;
    await this.client.patch(JOBSETS, AT, patch, { subresource: 'status' });
  }

  async annotation(name: string): Promise<string | undefined> {
    return (await this.client.get(PODS, AT)).metadata.annotations?.[name];
  }

  /** Plays upstream's controller. */
  async setAttempts(previous: number | undefined, current: number): Promise<void> {
    const status = {
      currentInPlaceRestartAttempt: current,
      ...(previous === undefined ? {} : { previousInPlaceRestartAttempt: previous }),
    };
    const patch = { type: 'merge', patch: { status } } as const;
    await this.client.patch(JOBSETS, AT, patch, { subresource: 'status' });
  }

  untilAttempted(attempt: string): Promise<void> {
    return this.#untilAnnotated(IN_PLACE_RESTART_ATTEMPT, attempt);
  }

  untilAnnounced(epoch: string): Promise<void> {
    return this.#untilAnnotated(EPOCH, epoch);
  }

  #untilAnnotated(key: string, value: string): Promise<void> {
    const look = async (): Promise<void> => expect(await this.annotation(key)).toBe(value);
    return until(`the annotation ${key}`, look, LIMIT_MS);
  }

  /** The text of a file of the worker, once it ends in a line feed. */
  file(name: string): Promise<string> {
    const whole = async (): Promise<string | false> => {
      const text = await readFile(join(this.root, name), 'utf8');
      return text.endsWith('\n') && text;
    };
    return until(`a whole line in the file ${name}`, whole, LIMIT_MS);
  }

  async stop(): Promise<void> {
    // An agent that is killed leaves its worker behind.
    for (const agent of this.agents) agent.kill('SIGTERM');
    await until('all agents have ended', () => this.agents.every(hasEnded), LIMIT_MS);
    await this.client.delete(PODS, AT, { gracePeriodSeconds: 0 });
    await this.client.delete(JOBS, JOB.metadata, { propagationPolicy: 'Background' });
    await this.client.delete(JOBSETS, AT, { propagationPolicy: 'Background' });
    await rm(this.root, { recursive: true, force: true });
  }
}

/**
 * Whether the process still runs; one that has ended may wait for its parent to read its exit code.
 */
async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !/\) Z /.test(stat);
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

class RunningAgent {
  readonly process: ChildProcess;
  readonly exited: Promise<number | null>;
  log = '';

  constructor(child: ChildProcess) {
    this.process = child;
    child.stderr?.on('data', (chunk: Buffer) => {
      this.log += chunk.toString();
    });
    this.exited = new Promise((resolve) => {
      child.once('close', (code) => resolve(code));
    });
  }
}

/** The status code of the startup probe's request, 0 if the port is closed. */
function probe(port: number, path = '/barrier-is-lifted'): Promise<number> {
  return new Promise((resolve) => {
    http
      .get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
      .once('error', () => resolve(0));
  });
}

function untilProbed(port: number, status: number, path?: string): Promise<void> {
  const look = async (): Promise<void> => expect(await probe(port, path)).toBe(status);
  return until(`the probe gives ${status}`, look, LIMIT_MS);
}

let scene: Scene;
beforeEach(async () => {
  scene = new Scene(await mkdtemp(join(folder, 'root-')), api);
  await scene.start();
});
afterEach(() => scene.stop());

describe('the agent as a sidecar process', () => {
  it('holds the barrier, asks for a restart by its exit code, and remembers after that', async () => {
    const port = await freePort(systemRandom);
    const environment = { LOCKSTEP_PORT_8080: String(port), RESTART_POD_IN_PLACE_EXIT_CODE: '99' };
    const first = scene.run([], environment);
    await scene.untilAnnounced('1');
    await untilProbed(port, 503);
    await scene.setStatus(0, 1);
    await untilProbed(port, 200);
    await scene.setStatus(1, 1);
    expect(await first.exited).toBe(99);

    const second = scene.run([], environment);
    await scene.untilAnnounced('2');
    await scene.setStatus(1, 2);
    await untilProbed(port, 200);
    second.process.kill('SIGTERM');
    expect(await second.exited).toBe(143);
    expect(await scene.annotation(NOTICE)).toBe('2');

    // Its worker has run in 2, and the agent does not know how that ended.
    scene.run([], environment);
    await scene.untilAnnounced('3');
  });

  it('ends with 130 on SIGINT at the barrier', async () => {
    const agent = scene.run([], { LOCKSTEP_PORT_8080: String(await freePort(systemRandom)) });
    await scene.untilAnnounced('1');
    agent.process.kill('SIGINT');
    expect(await agent.exited).toBe(130);
    expect(await scene.annotation(NOTICE)).toBeUndefined();
  });
});

describe('the agent as a supervisor process', () => {
  const worker = (script: string): readonly string[] => ['--', '/bin/sh', '-c', script];

  it('restarts its worker with the group, without leaving the container', async () => {
    const script = 'echo $$ > pid-$LOCKSTEP_EPOCH; while :; do sleep 0.01; done';
    const agent = scene.run(worker(script));
    await scene.untilAnnounced('1');
    await scene.setStatus(0, 1);
    const pid = Number(await scene.file('pid-1'));
    process.kill(pid, 'SIGKILL');
    await scene.untilAnnounced('2');
    const notice = parseNotice((await scene.annotation(NOTICE)) ?? '');
    const end = { how: 'Signaled', exit: { signal: 'SIGKILL' } };
    expect(notice).toMatchObject({ epoch: 1, end });
    await scene.setStatus(1, 2);
    expect(Number(await scene.file('pid-2'))).not.toBe(pid);

    // Another member failed.
    await scene.setStatus(2, 2);
    await scene.untilAnnounced('3');
    await scene.setStatus(2, 3);
    await scene.file('pid-3');
    expect(agent.process.exitCode).toBeNull();
    const begun = agent.log.split('\n').filter((line) => line.includes('an epoch begins'));
    expect(begun.map((line) => (JSON.parse(line) as { epoch: number }).epoch)).toEqual([1, 2, 3]);
  });

  it('gives its worker the time that the user sets, and announces when all processes are gone', async () => {
    // The worker saves a checkpoint; a child in a session of its own ignores the signal.
    const script = `setsid /bin/sh -c 'trap "" TERM; echo $$ > deaf; while :; do sleep 0.01; done' &
      trap 'sleep 0.3; echo > saved; exit 0' TERM
      until [ -s deaf ]; do sleep 0.01; done
      echo > ready; while :; do sleep 0.01; done`;
    const agent = scene.run(worker(script), { LOCKSTEP_STOP_GRACE_SECONDS: '20' });
    await scene.untilAnnounced('1');
    await scene.setStatus(0, 1);
    await scene.file('ready');
    const deaf = Number(await scene.file('deaf'));
    await scene.setStatus(1, 1);
    await scene.untilAnnounced('2');
    expect(await scene.file('saved')).toBe('\n');
    expect(await isRunning(deaf)).toBe(false);
    // Another member failed, so this agent has no cause to report.
    expect(await scene.annotation(NOTICE)).toBeUndefined();
    expect(agent.process.exitCode).toBeNull();
  });

  it('kills a worker that takes longer than that', async () => {
    const script = `trap '' TERM; echo $$ > deaf; while :; do sleep 0.01; done`;
    scene.run(worker(script), { LOCKSTEP_STOP_GRACE_SECONDS: '0' });
    await scene.untilAnnounced('1');
    await scene.setStatus(0, 1);
    const deaf = Number(await scene.file('deaf'));
    await scene.setStatus(1, 1);
    await scene.untilAnnounced('2');
    expect(await isRunning(deaf)).toBe(false);
  });

  it('forwards SIGTERM, reports nothing and leaves with the code of the worker', async () => {
    const agent = scene.run(
      worker(`trap 'exit 6' TERM; echo > ready; while :; do sleep 0.01; done`),
    );
    await scene.untilAnnounced('1');
    await scene.setStatus(0, 1);
    await scene.file('ready');
    agent.process.kill('SIGTERM');
    expect(await agent.exited).toBe(6);
    expect(await scene.annotation(EPOCH)).toBe('1');
    expect(await scene.annotation(NOTICE)).toBeUndefined();
  });

  it('leaves, unreported, with a code that its rules do not restart', async () => {
    const rules = [{ action: 'RestartPod', exitCodes: { operator: 'In', values: [1] } }];
    const agent = scene.run(worker('exit 3'), { LOCKSTEP_RESTART_RULES: JSON.stringify(rules) });
    await scene.untilAnnounced('1');
    await scene.setStatus(0, 1);
    expect(await agent.exited).toBe(3);
    expect(await scene.annotation(EPOCH)).toBe('1');
  });

  it('finds a program of a volume below its root', async () => {
    // As a node mounts it.
    const volume = await mkdtemp(join(tmpdir(), 'lockstep-volume-'));
    onTestFinished(() => rm(volume, { recursive: true, force: true }));
    await writeFile(join(volume, 'run'), '#!/bin/sh\nexit 4\n', { mode: 0o755 });
    await symlink(volume, join(scene.root, 'data'));
    const agent = scene.run(['--', '/data/run'], {
      LOCKSTEP_RESTART_RULES: '[{"action":"Restart","exitCodes":{"operator":"In","values":[1]}}]',
    });
    await scene.untilAnnounced('1');
    await scene.setStatus(0, 1);
    expect(await agent.exited).toBe(4);
  });
});

describe("the agent in upstream's dialect", () => {
  const asUpstreams = { NAMESPACE: '', JOBSET_UID: '', REPLICATED_JOB_NAME: '' };

  it('is a sidecar with the barrier and the exit code of upstream', async () => {
    const port = await freePort(systemRandom);
    const environment = { ...asUpstreams, LOCKSTEP_PORT_8081: String(port) };
    const first = scene.run([], environment);
    await scene.untilAttempted('0');
    await untilProbed(port, 503, '/barrier-is-down');
    await scene.setAttempts(undefined, 0);
    await untilProbed(port, 200, '/barrier-is-down');
    expect(await probe(port, '/barrier-is-lifted')).toBe(404);
    await scene.setAttempts(0, 0);
    expect(await first.exited).toBe(1);

    const second = scene.run([], { ...environment, IN_PLACE_RESTART_EXIT_CODE: '77' });
    await scene.untilAttempted('1');
    await scene.setAttempts(0, 1);
    await untilProbed(port, 200, '/barrier-is-down');
    await scene.setAttempts(1, 1);
    expect(await second.exited).toBe(77);
    expect(await scene.annotation(EPOCH)).toBeUndefined();
  });

  it('runs WORKER_COMMAND in a shell and leaves with its exit, for the node to judge', async () => {
    const worker = { ...asUpstreams, WORKER_COMMAND: 'echo $0 > shell; exit 5', SHELL: '/bin/sh' };
    const agent = scene.run([], worker);
    await scene.untilAttempted('0');
    await scene.setAttempts(undefined, 0);
    expect(await scene.file('shell')).toBe('/bin/sh\n');
    expect(await agent.exited).toBe(5);
    expect(await scene.annotation(IN_PLACE_RESTART_ATTEMPT)).toBe('0');
  });

  it('restarts its worker for the others without leaving the container', async () => {
    const line = 'echo > ran-$LOCKSTEP_EPOCH; while :; do sleep 0.01; done';
    const agent = scene.run([], { ...asUpstreams, WORKER_COMMAND: line });
    await scene.untilAttempted('0');
    await scene.setAttempts(undefined, 0);
    await scene.file('ran-1');
    await scene.setAttempts(0, 0);
    await scene.untilAttempted('1');
    await scene.setAttempts(0, 1);
    await scene.file('ran-2');
    expect(agent.process.exitCode).toBeNull();
  });

  it.each<['SIGTERM' | 'SIGINT', number]>([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ])('tells of %s at the barrier by its exit code', async (signal, code) => {
    const environment = {
      ...asUpstreams,
      LOCKSTEP_PORT_8081: String(await freePort(systemRandom)),
    };
    const agent = scene.run([], environment);
    await scene.untilAttempted('0');
    agent.process.kill(signal);
    expect(await agent.exited).toBe(code);
  });

  it('tells of SIGTERM even if its worker has ended well', async () => {
    const line = `trap 'exit 0' TERM; echo > ready; while :; do sleep 0.01; done`;
    const agent = scene.run([], { ...asUpstreams, WORKER_COMMAND: line });
    await scene.untilAttempted('0');
    await scene.setAttempts(undefined, 0);
    await scene.file('ready');
    agent.process.kill('SIGTERM');
    expect(await agent.exited).toBe(143);
  });

  it('cannot run a line without a shell', async () => {
    const agent = scene.run([], { ...asUpstreams, WORKER_COMMAND: 'train', PATH: '/nowhere' });
    expect(await agent.exited).toBe(1);
    expect(agent.log).toContain('SHELL is not set, and PATH');
  });
});

describe('the agent with a wrong configuration', () => {
  it('names the variable, its value and what was expected', async () => {
    const agent = scene.run([], { JOBSET_NAME: '', RESTART_POD_IN_PLACE_EXIT_CODE: 'x' });
    expect(await agent.exited).toBe(1);
    expect(agent.log).toContain('JOBSET_NAME: "": expected the name of the JobSet');
    expect(agent.log).toContain('RESTART_POD_IN_PLACE_EXIT_CODE: "x": expected a whole number');
  });

  it('says which credentials it misses', async () => {
    await rm(join(scene.root, 'var'), { recursive: true });
    const agent = scene.run();
    expect(await agent.exited).toBe(1);
    expect(agent.log).toContain('serviceaccount/ca.crt: cannot be read');
  });
});
