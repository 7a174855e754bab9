/**
 * Agents with their real channel against the embedded API server in memory, under virtual time. The
 * test plays the controller: it ends and releases epochs by writing JobSet status.
 */

import { createApiServer, MemoryStorage } from '@lockstep/embedded-kubernetes/in-memory';
import type { Stored } from '@lockstep/kube/meta.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import {
  type FakeProcess,
  MemoryProcessRunner,
} from '@lockstep/kube/runtime/memory/memory-process-runner.ts';
import { handlerTransport } from '@lockstep/kube/runtime/memory/memory-transport.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { HttpHandler } from '@lockstep/kube/runtime/ports/transport.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Agent, startAgent } from '../../src/agent/agent.ts';
import { createApiChannel } from '../../src/agent/api-channel.ts';
import { type MarkerStore, NO_MARKER, processMarkerStore } from '../../src/agent/marker.ts';
import { createSidecar, type Sidecar } from '../../src/agent/sidecar.ts';
import { createSupervisor } from '../../src/agent/supervisor.ts';
import { UNSEEN_WORKER } from '../../src/agent/worker/unseen-worker.fixture.ts';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { EPOCH, NOTICE } from '../../src/jobset/names.ts';
import { JOBSET_CRD } from '../../src/jobset/schema/crd.ts';
import { parseNotice } from '../../src/jobset/worker-end/notice.ts';

const NAMESPACE = 'default';
const NAME = 'train';
const REPLICATED_JOB = 'workers';
const LIMIT_MS = 60_000;
const ADMINISTRATOR = {
  address: '127.0.0.1',
  certificate: { commonName: 'admin', organizations: ['system:masters'] },
};

const JOB = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  name: 'train-workers-0',
  uid: 'job-uid',
  controller: true,
} as const;

/** One Pod with its agent; `boot` acts as a start or restart of its containers. */
class Member {
  readonly name: string;
  readonly processes = new MemoryProcessRunner({ train: () => undefined });
  readonly markers: MarkerStore = processMarkerStore();
  sidecar: Sidecar | undefined;
  agent: Agent | undefined;
  left: string | undefined;

  constructor(name: string) {
    this.name = name;
  }

  get worker(): FakeProcess | undefined {
    return this.processes.running[0];
  }

  /** The epoch of the running worker, or 0. */
  get epoch(): number {
    return Number(this.worker?.command.env['LOCKSTEP_EPOCH'] ?? 0);
  }
}

class Group {
  readonly clock = new VirtualClock();
  readonly random = new SeededRandom(3);
  readonly members: Member[] = [];
  client: Client;
  isApiDown = false;
  jobSet: Stored<JobSet> | undefined;
  readonly #server = createApiServer({
    storage: new MemoryStorage(),
    clock: this.clock,
    random: this.random,
    logger: SILENT,
  });

  constructor() {
    this.client = this.#connect(this.#server.handler);
  }

  async start(): Promise<void> {
    await this.#server.start();
    await this.client.create(CUSTOM_RESOURCE_DEFINITIONS, JOBSET_CRD);
    await this.clock.settle();
    await this.createJobSet();
  }

  async createJobSet(): Promise<void> {
    const container = { name: 'worker', image: 'none' };
    const template = { spec: { template: { spec: { containers: [container] } } } };
    this.jobSet = await this.client.create(JOBSETS, {
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      metadata: { name: NAME, namespace: NAMESPACE },
      spec: {
        replicatedJobs: [{ name: REPLICATED_JOB, replicas: 3, template }],
        failurePolicy: { restartStrategy: 'InPlaceRestart' },
      },
    });
  }

  async addMember(name: string, mode: 'Sidecar' | 'Supervisor'): Promise<Member> {
    const annotations = { 'jobset.sigs.k8s.io/jobset-name': NAME };
    await this.client.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: NAMESPACE, annotations, ownerReferences: [JOB] },
      spec: { containers: [{ name: 'worker', image: 'none' }] },
    });
    const member = new Member(name);
    this.members.push(member);
    await this.boot(member, mode);
    return member;
  }

  async boot(member: Member, mode: 'Sidecar' | 'Supervisor'): Promise<void> {
    const { clock, random } = this;
    const marker = (await member.markers.read()) ?? NO_MARKER;
    const { uid } = (await this.pod(member.name)).metadata;
    member.left = undefined;
    member.sidecar = mode === 'Sidecar' ? createSidecar(clock, '/barrier-is-lifted') : undefined;
    const body =
      member.sidecar ??
      createSupervisor({
        ...UNSEEN_WORKER,
        command: { argv: ['train'], env: {}, cwd: '/' },
        rules: [],
        stopGraceMs: 5000,
        processes: member.processes,
        clock,
        random,
        logger: SILENT,
      });
    const channel = createApiChannel({
      client: this.#connect((request) =>
        this.isApiDown ? Promise.reject(new Error('no route')) : this.#server.handler(request),
      ),
      clock,
      random,
      logger: SILENT,
      namespace: NAMESPACE,
      dialect: 'Canonical',
      jobSetName: NAME,
      jobSetUid: this.jobSet?.metadata.uid,
      replicatedJobName: REPLICATED_JOB,
      podName: member.name,
      podUid: uid,
      announced: marker.announced,
    });
    const agent = startAgent({
      jobSetUid: this.jobSet?.metadata.uid,
      marker,
      markers: member.markers,
      channel,
      body,
      clock,
      logger: SILENT,
    });
    member.agent = agent;
    void agent.left.then((reason) => {
      member.left = reason.type;
    });
  }

  /** Plays the controller. */
  async setStatus(deprecated: number, released: number): Promise<void> {
    const counts = { ready: 0, succeeded: 0, failed: 0, active: 0, suspended: 0 };
    const status = {
      deprecatedEpoch: deprecated,
      syncedEpoch: released,
      replicatedJobsStatus: [{ name: REPLICATED_JOB, ...counts, syncedEpoch: released }],
    };
    const at = { namespace: NAMESPACE, name: NAME };
    const patch = { type: 'merge', patch: { status } } as const;
    await this.client.patch(JOBSETS, at, patch, { subresource: 'status' });
  }

  pod(name: string): Promise<Stored<Pod>> {
    return this.client.get(PODS, { namespace: NAMESPACE, name });
  }

  async epochs(): Promise<readonly (string | undefined)[]> {
    const pods = await Promise.all(this.members.map(({ name }) => this.pod(name)));
    return pods.map(({ metadata }) => metadata.annotations?.[EPOCH]);
  }

  async untilAnnounced(...epochs: readonly string[]): Promise<void> {
    await this.clock.runUntil(async () => String(await this.epochs()) === String(epochs), LIMIT_MS);
  }

  untilRunning(...epochs: readonly number[]): Promise<void> {
    return this.clock.runUntil(
      () => String(this.members.map(({ epoch }) => epoch)) === String(epochs),
      LIMIT_MS,
    );
  }

  async stop(): Promise<void> {
    for (const { agent, worker } of this.members) {
      agent?.stop('SIGTERM');
      worker?.die('SIGKILL');
    }
    await this.clock.advance(1000);
    await this.#server.close();
    await this.clock.settle();
  }

  #connect(handler: HttpHandler): Client {
    const { clock, random } = this;
    const transport = handlerTransport(handler, ADMINISTRATOR);
    return createClient({ transport, clock, random, userAgent: 'test' });
  }
}

let group: Group;
beforeEach(async () => {
  group = new Group();
  await group.start();
});
afterEach(() => group.stop());

describe('supervisors over the API', () => {
  it('start together, restart together after a failure, and say why', async () => {
    for (const name of ['a', 'b', 'c']) await group.addMember(name, 'Supervisor');
    await group.untilAnnounced('1', '1', '1');
    expect(group.members.map(({ epoch }) => epoch)).toEqual([0, 0, 0]);
    await group.setStatus(0, 1);
    await group.untilRunning(1, 1, 1);

    group.members[1]?.worker?.exit(7);
    await group.untilAnnounced('1', '2', '1');
    const { annotations } = (await group.pod('b')).metadata;
    const notice = parseNotice(annotations?.[NOTICE] ?? '');
    expect(notice).toMatchObject({ epoch: 1, end: { how: 'Exited', exit: { exitCode: 7 } } });
    await group.setStatus(1, 1);
    await group.untilAnnounced('2', '2', '2');
    expect(group.members.map(({ epoch }) => epoch)).toEqual([0, 0, 0]);
    await group.setStatus(1, 2);
    await group.untilRunning(2, 2, 2);
  });

  it('keep their workers while the API is away, and catch up after that', async () => {
    const member = await group.addMember('a', 'Supervisor');
    await group.untilAnnounced('1');
    await group.setStatus(0, 1);
    await group.untilRunning(1);
    group.isApiDown = true;
    await group.clock.advance(600_000);
    expect(member.epoch).toBe(1);
    group.isApiDown = false;
    await group.setStatus(1, 1);
    await group.untilAnnounced('2');
    expect(member.epoch).toBe(0);
  });

  it('report a failure that happens while the API is away when it is back', async () => {
    const member = await group.addMember('a', 'Supervisor');
    await group.untilAnnounced('1');
    await group.setStatus(0, 1);
    await group.untilRunning(1);
    group.isApiDown = true;
    member.worker?.die('SIGKILL');
    await group.clock.advance(60_000);
    expect(await group.epochs()).toEqual(['1']);
    group.isApiDown = false;
    await group.untilAnnounced('2');
  });

  it('leave with the exit of a worker that has done its work', async () => {
    const member = await group.addMember('a', 'Supervisor');
    await group.untilAnnounced('1');
    await group.setStatus(0, 1);
    await group.untilRunning(1);
    member.worker?.exit(0);
    await group.clock.runUntil(() => member.left === 'WorkerExit', LIMIT_MS);
    expect(await group.epochs()).toEqual(['1']);
  });

  it('never start for a new JobSet of the same name', async () => {
    const member = await group.addMember('a', 'Supervisor');
    await group.untilAnnounced('1');
    await group.client.delete(JOBSETS, { namespace: NAMESPACE, name: NAME });
    const { jobSet } = group;
    await group.createJobSet();
    await group.setStatus(0, 1);
    await group.clock.advance(LIMIT_MS);
    expect(member.epoch).toBe(0);
    expect(group.jobSet?.metadata.uid).not.toBe(jobSet?.metadata.uid);
  });

  it('never start after they were told to end', async () => {
    const member = await group.addMember('a', 'Supervisor');
    await group.untilAnnounced('1');
    member.agent?.stop('SIGTERM');
    await group.setStatus(0, 1);
    await group.clock.runUntil(() => member.left === 'Signal', LIMIT_MS);
    await group.clock.advance(LIMIT_MS);
    expect(member.epoch).toBe(0);
  });
});

describe('sidecars over the API', () => {
  /** Probes as a kubelet does: the answer may take most of a second. */
  const isLifted = async (member: Member): Promise<boolean> => {
    const { signal } = new AbortController();
    const path = '/barrier-is-lifted';
    const probe = member.sidecar?.handler({ method: 'GET', path, headers: {}, signal });
    let status: number | undefined;
    void probe?.then((answer) => {
      status = answer.status;
    });
    await group.clock.runUntil(() => status !== undefined, LIMIT_MS);
    return status === 200;
  };
  const untilLifted = async (member: Member): Promise<void> => {
    const deadline = group.clock.monotonic() + LIMIT_MS;
    while (!(await isLifted(member))) expect(group.clock.monotonic()).toBeLessThan(deadline);
  };

  it('lift when released, leave when their epoch is over, and lift again', async () => {
    const member = await group.addMember('a', 'Sidecar');
    await group.untilAnnounced('1');
    expect(await isLifted(member)).toBe(false);
    await group.setStatus(0, 1);
    await untilLifted(member);
    await group.setStatus(1, 1);
    await group.clock.runUntil(() => member.left === 'EpochOver', LIMIT_MS);
    await group.boot(member, 'Sidecar');
    await group.untilAnnounced('2');
    await group.setStatus(1, 2);
    await untilLifted(member);
  });

  it('announce the next epoch after an unrequested restart, with notice', async () => {
    const member = await group.addMember('a', 'Sidecar');
    await group.untilAnnounced('1');
    await group.setStatus(0, 1);
    await untilLifted(member);
    member.agent?.stop('SIGTERM');
    await group.clock.runUntil(() => member.left === 'Signal', LIMIT_MS);
    expect((await group.pod('a')).metadata.annotations?.[NOTICE]).toBe('1');
    await group.boot(member, 'Sidecar');
    await group.untilAnnounced('2');
  });

  it('join the released epoch after a restart at the barrier', async () => {
    const member = await group.addMember('a', 'Sidecar');
    await group.untilAnnounced('1');
    member.agent?.stop('SIGTERM');
    await group.clock.runUntil(() => member.left === 'Signal', LIMIT_MS);
    await group.setStatus(0, 1);
    await group.boot(member, 'Sidecar');
    await untilLifted(member);
    expect(await group.epochs()).toEqual(['1']);
  });

  it('never join it without the marker', async () => {
    await group.addMember('a', 'Sidecar');
    await group.untilAnnounced('1');
    await group.setStatus(0, 1);
    await group.client.delete(PODS, { namespace: NAMESPACE, name: 'a' }, { gracePeriodSeconds: 0 });
    group.members[0]?.agent?.stop('SIGTERM');
    group.members.length = 0;
    const replacement = await group.addMember('a', 'Sidecar');
    await group.untilAnnounced('2');
    expect(await isLifted(replacement)).toBe(false);
  });
});
