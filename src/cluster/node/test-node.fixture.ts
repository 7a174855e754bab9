/** A node with everything in memory under a virtual clock, and what tests ask of it. */
import { EVENTS } from '../../kube/event.ts';
import type { Stored } from '../../kube/meta.ts';
import type { ContainerStatus, Pod } from '../../kube/pod.ts';
import { MemoryLogger } from '../../runtime/memory/memory-logger.ts';
import {
  type FakeProcess,
  type FakeProgram,
  MemoryProcessRunner,
} from '../../runtime/memory/memory-process-runner.ts';
import { SeededRandom } from '../../runtime/memory/seeded-random.ts';
import { VirtualClock } from '../../runtime/memory/virtual-clock.ts';
import { sleep } from '../../runtime/ports/clock.ts';
import type { ProcessRunner } from '../../runtime/ports/process-runner.ts';
import type { BackoffSettings } from './backoff.ts';
import { MemoryFiles } from './memory/memory-files.ts';
import type { NodeNetwork } from './network.ts';
import { type NodeAgent, startNodeAgent } from './node-agent.ts';
import type { NodeFiles } from './node-files.ts';
import type { ProbeAnswer, ProbeTransport } from './probe-transport.ts';
import { TestApi } from './test-api.fixture.ts';

const OWN = { type: 'own-addresses', hostIP: '127.9.0.1', podCIDR: '127.9.0.0/16' } as const;

export interface TestNodeOptions {
  readonly network?: NodeNetwork;
  /** How long it takes to prepare a Pod, and to start a process of it. */
  readonly startMs?: number;
  readonly backoff?: BackoffSettings | undefined;
}

export class TestNode {
  readonly clock = new VirtualClock();
  readonly api = new TestApi(this.clock, new SeededRandom(2));
  readonly files = new MemoryFiles();
  readonly logger = new MemoryLogger();
  readonly processes: MemoryProcessRunner;
  /** Answers HTTP probes; a throw is a refused connection. */
  answer: () => ProbeAnswer = () => ({ status: 200, redirectedTo: undefined });
  readonly #network: NodeNetwork;
  readonly #startMs: number;
  readonly #backoff: BackoffSettings | undefined;
  #agent: NodeAgent | undefined;

  constructor(
    programs: Readonly<Record<string, FakeProgram>>,
    { network = OWN, startMs = 0, backoff }: TestNodeOptions = {},
  ) {
    this.processes = new MemoryProcessRunner(programs);
    this.#network = network;
    this.#startMs = startMs;
    this.#backoff = backoff;
  }

  get agent(): NodeAgent {
    if (this.#agent === undefined) throw new Error('start the node first');
    return this.#agent;
  }

  /** `before` prepares what is there when the node starts. */
  async start(before: (api: TestApi) => Promise<void> = async () => undefined): Promise<void> {
    const probes: ProbeTransport = {
      get: async () => this.answer(),
      connect: async () => {
        this.answer();
      },
    };
    const { clock, logger } = this;
    await this.api.start();
    await before(this.api);
    let started: NodeAgent | undefined;
    void startNodeAgent({
      name: 'n1',
      client: this.api.client,
      clock,
      random: new SeededRandom(1),
      logger,
      processes: this.#slowProcesses(),
      files: this.#slowFiles(),
      probes,
      rootDirectory: '/state',
      network: this.#network,
      backoff: this.#backoff,
      kubeletPort: 10_250,
      apiServer: { host: '127.0.0.1', port: 6443 },
      path: '/bin',
      machine: {
        capacity: { cpu: '4', memory: '8Gi', pods: '100' },
        architecture: 'amd64',
        operatingSystem: 'linux',
        kernelVersion: '6',
      },
    }).then((agent) => {
      started = agent;
    });
    await clock.runUntil(() => started !== undefined, 10_000);
    this.#agent = started;
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

  /** Runs until the Pod's status, as the API has it, is as wanted. */
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
