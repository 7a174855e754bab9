/** A node with everything in memory under a virtual clock, for tests. */

import type { Stored } from '@lockstep/kube/meta.ts';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import type { ContainerStatus, Pod } from '@lockstep/kube/objects/pod.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import {
  type FakeProcess,
  type FakeProgram,
  MemoryProcessRunner,
} from '@lockstep/kube/runtime/memory/memory-process-runner.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import type { ProcessRunner } from '@lockstep/kube/runtime/ports/process-runner.ts';
import { messagePair } from '../node-process/message-pair.fixture.ts';
import { ProcessHost } from '../node-process/process-host.ts';
import type { AgentMessage, KeeperMessage } from '../node-process/process-messages.ts';
import { RemoteKeeper } from '../node-process/remote-keeper.ts';
import { MACHINE_STREAMING } from './adapters/streaming.ts';
import { Life } from './agent-life.fixture.ts';
import type { BackoffSettings } from './backoff.ts';
import { MemoryFiles } from './memory/memory-files.ts';
import { type NodeAgent, type NodeAgentOptions, startNodeAgent } from './node-agent.ts';
import type { NodeNetwork } from './pod-addresses.ts';
import type { NodeFiles } from './ports/node-files.ts';
import type { ProbeAnswer, ProbeTransport, ServingStatus } from './ports/probe-transport.ts';
import { TestApi } from './test-api.fixture.ts';

const OWN = { type: 'own-addresses', hostIP: '127.9.0.1', podCIDR: '127.9.0.0/16' } as const;

const MACHINE = {
  capacity: { cpu: '4', memory: '8Gi', pods: '100' },
  architecture: 'amd64',
  operatingSystem: 'linux',
  kernelVersion: '6',
};

export interface TestNodeOptions {
  readonly network?: NodeNetwork;
  /** How long it takes to prepare a Pod, and to start a process of it. */
  readonly startMs?: number;
  readonly backoff?: BackoffSettings | undefined;
  /** Keeps the processes apart from the agent, so that it can be killed. */
  readonly canBeKilled?: boolean;
}

export class TestNode {
  readonly clock = new VirtualClock();
  readonly api = new TestApi(this.clock, new SeededRandom(2));
  readonly files = new MemoryFiles();
  readonly logger = new MemoryLogger();
  readonly processes: MemoryProcessRunner;
  /** Answers HTTP probes; a throw is a refused connection. */
  answer: () => ProbeAnswer = () => ({ status: 200, redirectedTo: undefined });
  /** The health of a service for probes over gRPC. */
  health: (service: string) => ServingStatus = () => 'SERVING';
  readonly #network: NodeNetwork;
  readonly #startMs: number;
  readonly #backoff: BackoffSettings | undefined;
  readonly #host: ProcessHost | undefined;
  readonly #random = new SeededRandom(1);
  #life = new Life();
  #agent: NodeAgent | undefined;

  constructor(
    programs: Readonly<Record<string, FakeProgram>>,
    { network = OWN, startMs = 0, backoff, canBeKilled = false }: TestNodeOptions = {},
  ) {
    this.processes = new MemoryProcessRunner(programs);
    this.#network = network;
    this.#startMs = startMs;
    this.#backoff = backoff;
    this.#host = canBeKilled ? new ProcessHost(this.#slowProcesses()) : undefined;
  }

  get agent(): NodeAgent {
    if (this.#agent === undefined) throw new Error('start the node first');
    return this.#agent;
  }

  /** `before` prepares objects before the node starts. */
  async start(before: (api: TestApi) => Promise<void> = async () => undefined): Promise<void> {
    await this.api.start();
    await before(this.api);
    await this.#startAgent();
  }

  /** Acts like SIGKILL: the agent does nothing more, its processes continue. */
  kill(): void {
    this.#life.end();
    this.#host?.disconnect();
  }

  /** Starts the agent again after it was killed. */
  async revive(): Promise<void> {
    this.#life = new Life();
    await this.#startAgent();
  }

  async #startAgent(): Promise<void> {
    const life = this.#life;
    this.#agent = await this.settled(
      startNodeAgent({
        name: 'n1',
        client: life.bound(this.api.client),
        clock: life.clock(this.clock),
        random: this.#random,
        logger: this.logger,
        ...this.#processes(life),
        files: life.bound(this.#slowFiles()),
        probes: this.#probes(),
        streaming: MACHINE_STREAMING,
        rootDirectory: '/state',
        network: this.#network,
        backoff: this.#backoff,
        kubeletPort: 10_250,
        apiServer: { host: '127.0.0.1', port: 6443 },
        path: '/bin',
        machine: MACHINE,
      }),
    );
  }

  #processes(life: Life): Pick<NodeAgentOptions, 'processes' | 'keeper'> {
    if (this.#host === undefined) return { processes: this.#slowProcesses() };
    const [agent, keeper] = messagePair<AgentMessage, KeeperMessage>();
    this.#host.connect(keeper);
    const remote = life.bound(new RemoteKeeper(agent));
    return { processes: remote, keeper: remote };
  }

  #probes(): ProbeTransport {
    return {
      get: async () => this.answer(),
      connect: async () => {
        this.answer();
      },
      health: async ({ service }) => {
        this.answer();
        return this.health(service);
      },
    };
  }

  #slowProcesses(): ProcessRunner {
    const { clock, processes } = this;
    if (this.#startMs === 0) return processes;
    return {
      start: async (command) => {
        await sleep(clock, this.#startMs);
        return processes.start(command);
      },
      killByEnvironment: (name, value) => processes.killByEnvironment(name, value),
    };
  }

  #slowFiles(): NodeFiles {
    const { clock, files } = this;
    if (this.#startMs === 0) return files;
    return new Proxy(files, {
      get: (target, name) => {
        const member = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return name === 'makeDirectory'
          ? async (path: string) => {
              if (/\/pods\/[^/]+$/.test(path)) await sleep(clock, this.#startMs);
              return target.makeDirectory(path);
            }
          : member.bind(target);
      },
    });
  }

  async stop(): Promise<void> {
    await this.settled(this.agent.stop().then(() => this.api.stop()));
  }

  /** Lets time pass until the work is done. */
  async settled<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    await this.clock.runUntil(() => isDone, 60_000);
    return done;
  }

  async run(spec: Partial<Pod['spec']>): Promise<void> {
    await this.api.run(spec);
    await this.clock.settle();
  }

  get pod(): Stored<Pod> | undefined {
    return this.api.pod;
  }

  status(container: string): ContainerStatus | undefined {
    return this.api.status(container);
  }

  /** Runs until the Pod's status in the API fulfils the condition. */
  until(condition: (pod: Stored<Pod>) => boolean, limitMs = 60_000): Promise<void> {
    return this.clock.runUntil(() => this.pod !== undefined && condition(this.pod), limitMs);
  }

  /** The running process of a container. */
  process(container: string): FakeProcess {
    const found = this.processes.running.find(({ command }) =>
      command.env['LOCKSTEP_CONTAINER']?.includes(`/${container}/`),
    );
    if (found === undefined) throw new Error(`container ${container} does not run`);
    return found;
  }

  isRunning(container: string): boolean {
    return this.processes.running.some(({ command }) =>
      command.env['LOCKSTEP_CONTAINER']?.includes(`/${container}/`),
    );
  }

  async events(): Promise<readonly string[]> {
    const { items } = await this.api.client.list(EVENTS);
    return items.map(({ reason, note }) => `${reason}: ${note}`);
  }
}
