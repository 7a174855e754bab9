/** A node with real processes and files, and the API server in memory. */

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Container } from '@lockstep/kube/objects/pod.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { createNodeProcessRunner } from '@lockstep/kube/runtime/adapters/node-process-runner.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { expect } from 'vitest';
import { type NodeAgent, rootTemplatesIn, startNodeAgent } from '../node-agent.ts';
import type { PodNamespaces } from '../ports/pod-namespaces.ts';
import { TestApi } from '../test-api.fixture.ts';
import { thisMachine } from './machine.ts';
import { createNodeFiles } from './node-files.ts';
import { createProbeTransport } from './probe-transport.ts';
import { MACHINE_STREAMING } from './streaming.ts';

const LIMIT_MS = 20_000;
/** What a node that stops leaves. */
const KEPT = ['logs', 'volumes'];

export const PROGRAMS_PATH = process.env['PATH'] ?? '';

export interface RealNodeOptions {
  /** By default containers have none, and no Event says so. */
  readonly namespaces?: (templatesDirectory: string) => PodNamespaces;
}

export class RealNode {
  readonly root: string;
  readonly api: TestApi;
  readonly logger = new MemoryLogger();
  #agent: NodeAgent | undefined;
  readonly #descriptors: number;

  private constructor(root: string, descriptors: number) {
    this.root = root;
    this.#descriptors = descriptors;
    this.api = new TestApi(nodeClock, systemRandom);
  }

  static async start({ namespaces }: RealNodeOptions = {}): Promise<RealNode> {
    const root = await mkdtemp(join(tmpdir(), 'real-node-'));
    const node = new RealNode(root, await openDescriptors());
    await node.api.start();
    const templates = rootTemplatesIn(root);
    node.#agent = await startNodeAgent({
      name: 'n1',
      client: node.api.client,
      clock: nodeClock,
      random: systemRandom,
      logger: node.logger,
      processes: createNodeProcessRunner(),
      ...(namespaces === undefined
        ? {}
        : { namespaces: { type: 'available', namespaces: namespaces(templates) } }),
      files: createNodeFiles(),
      probes: createProbeTransport(),
      streaming: MACHINE_STREAMING,
      rootDirectory: root,
      network: { type: 'own-addresses', hostIP: '127.77.0.1', podCIDR: '127.77.0.0/16' },
      kubeletPort: 10_250,
      apiServer: { host: '127.0.0.1', port: 6443 },
      path: PROGRAMS_PATH,
      machine: thisMachine(),
    });
    return node;
  }

  get agent(): NodeAgent {
    if (this.#agent === undefined) throw new Error('the node has not started');
    return this.#agent;
  }

  /** Ends it, and expects that it leaves nothing but logs: no process, descriptor or directory. */
  async stop(): Promise<void> {
    await this.agent.stop();
    await this.api.stop();
    expect((await namesIn(this.root)).filter((name) => !KEPT.includes(name))).toEqual([]);
    expect(await this.processes()).toEqual([]);
    await until('no descriptor is left', async () =>
      expect(await openDescriptors()).toBeLessThanOrEqual(this.#descriptors),
    );
    expect(this.logger.records.filter(({ level }) => level === 'error')).toEqual([]);
    await rm(this.root, { recursive: true });
  }

  untilPhase(...phases: readonly string[]): Promise<void> {
    return until('the Pod is there', () => expect(phases).toContain(this.api.pod?.status?.phase));
  }

  /** The output of a container of Pod `p`; `query` such as `?previous=true`. */
  async logs(container: string, query = ''): Promise<Buffer> {
    const { body } = await this.get(`/containerLogs/default/p/${container}${query}`);
    if (body instanceof Uint8Array) return Buffer.from(body);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  get(path: string): ReturnType<NodeAgent['handler']> {
    const signal = AbortSignal.timeout(LIMIT_MS);
    return this.agent.handler({ method: 'GET', path, headers: {}, signal });
  }

  /** IDs of this machine's processes whose environment names the node's directory. */
  async processes(): Promise<readonly string[]> {
    const pids = (await namesIn('/proc')).filter((name) => /^\d+$/.test(name));
    const found: string[] = [];
    for (const pid of pids) {
      if (Number(pid) === process.pid) continue;
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      if (environment.includes(`LOCKSTEP_ROOT=${this.root}`)) found.push(pid);
    }
    return found;
  }
}

export function sh(name: string, script: string, more: Partial<Container> = {}): Container {
  return { name, image: 'busybox', command: ['sh', '-c', script], ...more };
}

/** Empty for a missing directory. */
export async function namesIn(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch(() => []);
}

/** For this process; 0 if the system does not report them. */
async function openDescriptors(): Promise<number> {
  return (await namesIn('/proc/self/fd')).length;
}
