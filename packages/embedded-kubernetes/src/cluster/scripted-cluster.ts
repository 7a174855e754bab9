/** A cluster whose nodes are scripted: what tests of controllers do with it, whatever serves its API. */
import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import { JOBS, type Job, type JobSpec } from '@lockstep/kube/objects/job.ts';
import { NODES, type Node } from '@lockstep/kube/objects/node.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { RESTART_ALL_FEATURE } from '@lockstep/kube/objects/restart-rule.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import { ScriptedNode } from './scripted-node.ts';
import type { PlayContainer } from './scripted-pod.ts';

export abstract class ScriptedCluster {
  /** An administrator's. */
  abstract readonly client: Client;
  abstract readonly clock: Clock;
  abstract readonly random: Random;
  /** Whether startup probes of sidecars fail: their Pods start then, and never get further. */
  probesFail = false;
  /** Plays the containers of a Pod as a node starts and stops them; undefined: its Pod just runs. */
  play: (pod: Stored<Pod>) => PlayContainer | undefined = () => undefined;
  protected node: ScriptedNode | undefined;

  /** Waits until the condition holds. */
  abstract until(condition: () => Promise<boolean>): Promise<void>;

  /** Waits for work that needs this cluster and its clock. */
  async reached<T>(work: Promise<T>): Promise<T> {
    let hasEnded = false;
    const end = (): void => {
      hasEnded = true;
    };
    work.then(end, end);
    await this.until(async () => hasEnded);
    return work;
  }

  async addNode(name = 'n1', status: Node['status'] = {}, labels: StringMap = {}): Promise<void> {
    await this.client.create(NODES, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels },
      status: {
        allocatable: { cpu: '64', memory: '64Gi', pods: '1000' },
        declaredFeatures: [RESTART_ALL_FEATURE],
        conditions: [{ type: 'Ready', status: 'True' }],
        ...status,
      },
    });
    this.node ??= new ScriptedNode(this.client, this.clock, this.random, {
      probesFail: () => this.probesFail,
      play: (pod) => this.play(pod),
    });
  }

  async createJob(
    spec: Partial<JobSpec> = {},
    name = 'train',
    namespace = 'default',
  ): Promise<Stored<Job>> {
    const containers = [{ name: 'main', image: 'none', command: ['true'] }];
    const metadata = { name, namespace };
    return this.client.create(JOBS, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata,
      spec: {
        completionMode: 'Indexed',
        completions: 3,
        parallelism: 3,
        template: { spec: { restartPolicy: 'Never', containers } },
        ...spec,
      },
    });
  }

  /** Lets a Pod's only container end. */
  async finish(pod: Stored<Pod>, exitCode: number): Promise<void> {
    await this.node?.finish(pod, exitCode);
  }

  async job(name = 'train'): Promise<Stored<Job>> {
    return this.client.get(JOBS, { namespace: 'default', name });
  }

  /** Pods in order of name. */
  async pods(namespace = 'default'): Promise<readonly Stored<Pod>[]> {
    const { items } = await this.client.list(PODS, { namespace });
    return items.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  async exists(of: Resource, name: string, namespace = 'default'): Promise<boolean> {
    const at = of.namespaced ? { namespace, name } : { name };
    return (await unlessGone(this.client.get(of, at))) !== undefined;
  }

  /** Waits until `count` Pods run. */
  async running(count: number): Promise<readonly Stored<Pod>[]> {
    let running: readonly Stored<Pod>[] = [];
    await this.until(async () => {
      running = (await this.pods()).filter(isRunning);
      return running.length === count;
    });
    return running;
  }
}

function isRunning(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && pod.metadata.deletionTimestamp === undefined;
}
